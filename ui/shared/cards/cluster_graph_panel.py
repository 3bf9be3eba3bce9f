"""The graph of a cluster on a card, in a box that draws it once somebody opens it."""

import streamlit as st

from toolscope_core.model.cluster import Cluster
from ui.shared.graph import FEWEST
from ui.shared.snapshot import Snapshot


def cluster_graph(snapshot: Snapshot, cluster: Cluster) -> None:
    """The box; nothing where the cluster has fewer tools than ``FEWEST``."""
    if len(cluster.members) < FEWEST:
        return
    box = st.expander(
        f"How the {len(cluster.members):,} tools hang together",
        icon=":material/hub:",
        key=f"graph_{cluster.id}",
        on_change="rerun",
    )
    if box.open:
        from ui.shared.graph.network_panel import network_panel  # with all that draws it

        with box:
            network_panel(snapshot, cluster.id)
