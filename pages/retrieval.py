"""Retrieval: what an agent gets for a request, before and after the merge."""

import streamlit as st

from toolscope_core.model.errors import ToolScopeError
from ui.retrieval.plan_panel import plan_panel
from ui.retrieval.request_panel import request_panel
from ui.retrieval.result_panel import confusion_panel, result_panel
from ui.shared import page_frame, safe_text

st.title("Retrieval")
snapshot = page_frame.analysed_snapshot()
request = request_panel(snapshot)
try:
    if request is not None and request.config is not None:
        plan_panel(snapshot, request)
    elif request is not None:
        view = result_panel(snapshot, request.lookup)
        if view is not None and not request.lookup.servers:
            confusion_panel(snapshot, view.confusions)
except ToolScopeError as error:  # for example a reranker that is not on this machine
    safe_text.show_error(error)
