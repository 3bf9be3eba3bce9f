"""What stands beside every page: which judge the plan is made with, and whose keys count."""

import streamlit as st

from tests.support.model_server import ModelServer
from tests.support.replies import answering, same_verb, served
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey
from ui.shared import page_frame, safe_text
from ui.shared.services import model_runs


def badge(tab):
    return next(m.value for m in tab.at.sidebar.markdown if "Judge:" in m.value)


def test_the_chip_names_the_judge_of_the_plan(open_app, through_the_app):
    tab = open_app()
    assert "Judge: offline" in badge(tab.open("review"))
    with ModelServer(served(answering(same_verb))) as server:
        tab.work.endpoints.save(Endpoint(server.url, "[m](http://x)"))
        model_runs.run(tab.now)
    told = badge(tab.open("review"))
    assert ":blue-badge" in told and "127" in told and "](http:" not in told


def test_keys_in_the_secrets_come_before_those_of_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    monkeypatch.setattr(st, "secrets", {"OPENAI_API_KEY": "from-secrets", "other": {"a": 1}})
    keys = page_frame._settings().keys
    assert keys[0] == ApiKey("https://api.openai.com", "")
    assert [key.secret for key in keys] == ["from-secrets", "from-environment"]


def test_names_in_a_sentence_are_bold_and_still_escaped():
    bold = safe_text.sentence("`a_b` says “x” where `c` says “y”")
    assert bold == r"**a\_b** says “x” where **c** says “y”"
    assert safe_text.sentence("only `t` says <b>") == r"only **t** says \<b\>"
    assert safe_text.sentence("one ` alone") == r"one \` alone"
    assert safe_text.sentence("`![x](http://e.example)` is").startswith(r"**\!\[x\]\(`http")
    assert safe_text.sentence("no name") == "no name"


def test_an_address_that_names_no_catalog_says_so(open_app):
    tab = open_app()
    tab.at.query_params["catalog"] = "Nope"
    tab.at.run()
    (warning,) = tab.at.warning
    assert "Nope" in warning.value and "Showing Desk" in warning.value
