import json
import re
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from tests.pages.screen import figures, metrics, open_page, words
from tests.ui.services import small_workspace
from toolscope_core.catalog.tokens import tool_tokens
from toolscope_core.check.comparison_report import AppPlace
from toolscope_core.model.pair import Pair, pair_key
from ui.overlap import curves
from ui.shared.services import review, reviewed_variants


def table(app):
    return app.dataframe[0].value


def shown_pair(app):
    return app.subheader[0].value


def test_the_strongest_pair_is_chosen_and_explained(monkeypatch, work):
    app = open_page(monkeypatch, work, "overlap")
    assert figures(words(app), "alike in name")[:2] == [4, 0.70], "pairs, and the threshold"
    first = table(app).iloc[0]
    assert first["same_job"] == 1.0
    assert first["left_tokens"] == first["right_tokens"] == tool_tokens(small_workspace.WEATHER)
    assert "(openai-chat): estimate" in words(app)
    assert shown_pair(app) == "get\\_weather and get\\_weather"
    assert r"Judge: same job" in words(app) and "Same job 1.00" in words(app)
    assert r"They do the same job\." in words(app)
    assert "- Exact copies" in words(app)


def test_another_pair_comes_by_the_address_that_check_writes(monkeypatch, work):
    pair = Pair.of("alpha/list_files", "beta/add_numbers")
    address = urlsplit(AppPlace("http://localhost:8501", "Desk").address(pair))
    assert address.path == "/overlap"
    app = open_page(monkeypatch, work, "overlap", **dict(parse_qsl(address.query)))
    assert "was not found" not in words(app)
    assert shown_pair(app) == "list\\_files and add\\_numbers"
    assert "Judge: different jobs" in words(app)
    lines = words(app).replace("\\", "").splitlines()
    replacements = [re.findall(r"\w+/\w+", line) for line in lines if "To replace" in line]
    assert replacements == [[pair.left, pair.right], [pair.right, pair.left]]
    assert any(frame.value.get("note") is not None for frame in app.dataframe)


def test_an_address_of_no_pair_says_so_and_shows_the_strongest(monkeypatch, work):
    app = open_page(monkeypatch, work, "overlap", pair="0~1")
    assert "not in this catalog" in words(app)
    assert shown_pair(app) == "get\\_weather and get\\_weather"


def test_two_tools_are_chosen_by_finding_them(monkeypatch, work):
    app = open_page(monkeypatch, work, "overlap")
    app.session_state["any_two"] = True
    app.run()
    app.text_input(key="find_Tool A").set_value("numbers").run()
    assert app.selectbox(key="pick_Tool A").options == ["beta/add_numbers"]
    app.selectbox(key="pick_Tool A").select("beta/add_numbers")
    app.selectbox(key="pick_Tool B").select("alpha/list_files").run()
    app.button(key="compare").click().run()
    assert shown_pair(app) == "list\\_files and add\\_numbers"


@pytest.mark.parametrize(
    ("tab", "charts", "tables"),
    [("Reasons", 0, 2), ("Signals", 1, 3), ("Most similar tools", 0, 4)],
)
def test_of_a_pair_only_the_open_tab_is_made(monkeypatch, work, tab, charts, tables):
    pair = Pair.of("alpha/send_mail", "beta/send_mail")
    app = open_page(monkeypatch, work, "overlap", pair=pair_key(pair))
    app.session_state["pair_more"] = tab
    app.run()
    assert (len(app.get("plotly_chart")), len(app.dataframe)) == (charts, tables)
    assert ("no access" in words(app)) == (tab == "Reasons")


def test_a_pair_is_kept_apart_and_the_decision_undone(monkeypatch, work):
    pair = Pair.of("alpha/send_mail", "beta/send_mail")
    app = open_page(monkeypatch, work, "overlap", pair=pair_key(pair))
    app.button(key=f"never_{pair_key(pair)}").click().run()
    assert r"Kept apart\: send\_mail" in words(app)
    assert "Kept apart by reviewer" in words(app)
    assert app.button(key=f"never_{pair_key(pair)}").disabled
    assert app.button(key=f"propose_{pair_key(pair)}").disabled
    app.button(key="pair_undo_1").click().run()
    assert not app.button(key=f"never_{pair_key(pair)}").disabled
    assert shown_pair(app) == "send\\_mail and send\\_mail"


def test_filters_come_from_the_address_and_narrow_the_pairs(monkeypatch, work):
    app = open_page(monkeypatch, work, "overlap", verdict="same job", of="gamma", least="0.9")
    assert len(table(app))
    assert all((table(app)["left_server"] == "gamma") | (table(app)["right_server"] == "gamma"))
    assert "matching pairs of" in words(app)

    app = open_page(monkeypatch, work, "overlap", pair_find="MAIL gamma")
    assert set(table(app)["left"]) == {"send_mail"} and len(table(app)) == 1
    app.text_input(key="pair_find").set_value("weather account's").run()
    assert set(table(app)["left"]) == {"get_weather"}
    app.text_input(key="pair_find").set_value("no such words").run()
    assert not len(app.dataframe) and "No pair" in words(app)


def test_a_catalog_without_overlap_names_its_closest_pair(monkeypatch, work):
    small_workspace.add_analysed(work, "Apart", small_workspace.MAIL, small_workspace.SUM)
    text = words(open_page(monkeypatch, work, "overlap", catalog="Apart"))
    assert figures(text, "No two tools")[0] == 0.70
    assert r"send\_mail" in text
    small_workspace.add_analysed(work, "Alone", small_workspace.MAIL)
    assert "No two tools" in words(open_page(monkeypatch, work, "overlap", catalog="Alone"))


def test_a_large_curve_is_counted_while_the_page_stays(monkeypatch, work):
    monkeypatch.setattr(curves, "COUNTED_AT_ONCE", 4)
    app = open_page(monkeypatch, work, "overlap", view="Threshold")
    assert "Counting all pairs" in words(app)
    work.analyses.wait(work.snapshot(1).job(curves.KIND).id)
    app.run()
    assert len(app.get("plotly_chart")) == 1


def test_moving_the_threshold_changes_the_numbers(monkeypatch, work):
    app = open_page(monkeypatch, work, "overlap", view="Threshold")
    assert (metrics(app)["Clusters"], metrics(app)["Tools left"]) == ("3", "4")
    assert "Clusters compared" not in words(app)
    assert len(app.get("plotly_chart")) == 1
    review.decide(
        work.snapshot(1), "keep_apart", small_workspace.by_name(work, 1, "get_weather"), "ann"
    )
    app.slider(key="similarity").set_value(0.9).run()
    assert (metrics(app)["Clusters"], metrics(app)["Tools left"]) == ("2", "5")
    shapes = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]["shapes"]
    (line,) = [one for one in shapes if one["type"] == "line"]
    assert line["x0"] == 0.9, "the curve marks the threshold of the slider"


def test_what_appears_is_named(monkeypatch, work):
    text, who = "Find a user by name in the list.", small_workspace.TEXT
    near = [small_workspace.tool("a", name, text, who=who) for name in ("find_user", "find_users")]
    record = work.catalogs.add("Near", small_workspace.catalog(*near, small_workspace.SUM))
    analysis = work.analyses.run(record.id)
    scores = replace(analysis.scores, same_job=np.full(len(analysis.scores), 0.65))
    monkeypatch.setattr(work.analyses, "offline", lambda _: replace(analysis, scores=scores))
    app = open_page(monkeypatch, work, "overlap", catalog="Near", view="Threshold", same_job="0.6")
    assert app.slider(key="same_job").value == 0.6
    assert figures(words(app), "Clusters compared") == [1, 0, 0, 0], "the first is new"
    assert table(app)["change"].tolist() == ["new"]
    assert table(app)["cluster"].tolist() == ["find_user, find_users"]
    assert metrics(app)["Pairs to merge"] == "1"
    app.slider(key="same_job").set_value(0.85).run()
    assert metrics(app)["Pairs to merge"] == "0"
    assert "Clusters compared" not in words(app)


def test_the_heatmap_stands_before_and_after_document_variants(monkeypatch, work):
    app = open_page(monkeypatch, work, "overlap", view="Heatmap", heatmap_show="All tools")
    assert not [one for one in app.toggle if one.key == "heatmap_variants"], "there are none"
    row = b'{"tool": "alpha/send_mail", "expanded": "Post a letter.", "questions": ["Post it"]}'
    reviewed_variants.add(work.snapshot(1), row, "v.jsonl")
    small_workspace.accept_variants(small_workspace.Functions(work, reviewed_variants), 1)
    app = open_page(monkeypatch, work, "overlap", view="Heatmap", heatmap_show="All tools")
    app.toggle(key="heatmap_variants").set_value(True).run()
    own, written = (figures(words(app), name) for name in ("Own text", "With variants"))
    assert written[0] < own[0] and written[1] == own[1] == 28
    assert len(app.get("plotly_chart")) == 2
    app = open_page(
        monkeypatch, work, "overlap", view="Heatmap", one="alpha", other="beta",
        heatmap_variants="true",
    )  # fmt: skip
    assert "Own text" in words(app) and len(app.get("plotly_chart")) == 2


def test_accepted_document_variants_have_a_curve_and_a_map_of_their_own(monkeypatch, work):
    app = open_page(monkeypatch, work, "overlap", view="Threshold")
    assert "More" not in [box.label for box in app.expander], "without variants there is no more"
    row = b'{"tool": "alpha/send_mail", "expanded": "Post a letter.", "questions": []}'
    reviewed_variants.add(work.snapshot(1), row, "v.jsonl")
    small_workspace.accept_variants(small_workspace.Functions(work, reviewed_variants), 1)
    app.session_state["threshold_more"] = True
    app.run()
    columns = set().union(*(frame.value.columns for frame in app.dataframe))
    assert {"pairs, own text", "change, with random words"} <= columns
    app = open_page(monkeypatch, work, "overlap", view="Map", method="PCA")
    app.toggle(key="compare_variants").set_value(True).run()
    assert len(app.get("plotly_chart")) == 1
