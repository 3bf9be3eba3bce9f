"""Evaluation: measured by jobs, shown as tables and pictures, merges taken back."""

import re
from types import SimpleNamespace

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import planning, served
from tests.tool2vec.tiny_bert import save_tiny_bert
from tests.ui.services import test_learned_searches
from tests.ui.services.small_workspace import add_queries, by_name, say_one_account
from toolscope_core.model.configuration import Budget, Endpoint
from toolscope_core.model.errors import ConfigError, PausedError
from toolscope_core.model.pair import Pair, pair_key
from toolscope_core.store.experiment_rows import (
    delete_experiment,
    get_experiment,
    keep_result,
    open_experiment,
)
from ui.evaluation import evaluations
from ui.evaluation.experiment_requests import SYNTHETIC, ExperimentRequest
from ui.evaluation.measure_panel import described
from ui.shared.cards import change_effect_panel
from ui.shared.search_settings_panel import SEARCHES
from ui.shared.services import experiments, learned_searches, review

QUERIES = [
    {
        "id": "a",
        "query": "send a mail to a person",
        "gold": ["beta/send_mail"],
        "calls": [{"tool": "beta/send_mail", "arguments": {"to": "ann"}}],
    },
    {"id": "b", "query": "two mails", "gold": ["alpha/send_mail", "gamma/send_mail"]},
]


@pytest.fixture
def page(open_app):
    made = open_app()
    add_queries(made.work, made.catalog_id, QUERIES)
    return made


def measure(page, **wanted):
    return evaluations.run(page.now, ExperimentRequest(queries="q.jsonl", **wanted))


def experiment(page, part, **query):
    return page.open("evaluation", evaluation_view="Experiments", experiment=part, **query)


def test_nothing_is_measured_until_somebody_asks(page):
    page.open("evaluation")
    assert "Nothing is measured yet" in page.text
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind("comparison")))
    assert "against all proposals" in page.text and "2 queries of q" in page.text
    assert len(experiments.all(page.now)) == 1


def test_figures_of_both_toolsets_and_what_shows_over_merging(page):
    say_one_account(page.work, page.catalog_id)
    measure(page, after="all proposals")
    page.open("evaluation")
    rows = page.tables("figure")[0]
    figures = dict(zip(rows["figure"], rows["after"], strict=True))
    assert figures["tools"] == "4"
    assert figures["gold calls that run (TCCR)"] == "1.000"
    assert [count for name, count in figures.items() if "need two" in name] == ["1"]
    assert figures["recall@10"].startswith("1.000 [") and "recall@1" not in figures
    more = page.at.dataframe[1].value
    assert "recall@1" in set(more["figure"])
    assert "**1 query won**, **0 lost**, 1 unchanged" in page.text
    assert "**TCCR**: " in page.text
    merges = page.tables("members")[0]
    joins = dict(zip(merges["members"], merges["joins"], strict=True))
    mails = by_name(page.work, page.catalog_id, "send_mail").members
    assert joins[", ".join(mails)] == "b"
    page.tick("measured_merges", list(merges["members"]).index(", ".join(mails)))
    page.press("take_back")
    assert [(one.action, one.ids) for one in page.now.log[-1:]] == [("keep_apart", mails)]
    page.open("evaluation", outcome="won")
    rows = page.tables("moved")[0]
    assert list(rows["query"]) == ["send a mail to a person"]
    assert rows["moved"].iloc[0].endswith("→ 1 beta/send_mail")


def test_a_merge_that_loses_is_named(page):
    number = measure(page, after="all proposals")
    whole = get_experiment(page.work.store, number).result
    for at, merge in enumerate(whole["merges"]):
        merge["change"] = -0.25 if at == 0 else 0.1
    keep_result(page.work.store, number, whole, 1.0, is_done=True)
    page.open("evaluation")
    assert "**1 merge loses** nDCG: " in page.text and "(-0.250)" in page.text


def test_after_the_first_merge_what_is_accepted_is_measured(page):
    mails = by_name(page.work, page.catalog_id, "send_mail")
    review.decide(page.now, "accept", mails, "ann")
    page.open("evaluation")
    assert page.at.selectbox(key="after").value == "accepted"
    assert "need a gateway: 1 accepted merge" in page.text
    page.at.toggle(key="after_gateway").set_value(True).run()
    assert "need a gateway: 1" not in page.text


def test_what_is_measured_at_first_is_what_export_has(page):
    say_one_account(page.work, page.catalog_id)
    page.open("export")
    page.at.selectbox(key="accept").select("all").run()
    page.at.toggle(key="gateway").set_value(True).run()
    exported = page.at.metric[0].value.split()[-1]
    page.at.switch_page("pages/evaluation.py").run()
    assert page.at.selectbox(key="after").value == "all proposals"
    assert page.at.toggle(key="after_gateway").value
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind("comparison")))
    rows = page.tables("figure")[0]
    assert dict(zip(rows["figure"], rows["after"], strict=True))["tools"] == exported


def test_a_query_that_misses_is_named_with_its_places(page):
    number = measure(page, after="all proposals")
    whole = get_experiment(page.work.store, number).result
    whole["queries"][1]["places_after"] = [1, None]
    keep_result(page.work.store, number, whole, 1.0, is_done=True)
    page.open("evaluation", outcome="missed")
    page.at.segmented_control(key="outcome").set_value("missed").run()
    (table,) = page.tables("missing")
    row = table.iloc[0]
    assert (row["id"], row["after"], row["missing"]) == ("b", "1, -", "gamma/send_mail")


def test_confusions_are_a_table_of_pairs_and_a_matrix_of_what_is_found_instead(page):
    rows = [*QUERIES, {"id": "n", "query": "tell a joke about a city", "gold": []}]
    add_queries(page.work, page.catalog_id, rows)
    measure(page)
    page.open("evaluation", evaluation_view="Confusions")
    pairs = page.tables("cost")[0]
    assert "send a mail to a person" in set(pairs["texts"])
    assert f"**{len(pairs)} pair" in page.text
    matrix = page.tables("expected")[0]
    assert list(matrix["expected"])[-2:] == ["none", "not a tool"]
    asked_none = matrix[matrix["expected"] == "none"].iloc[0]
    assert asked_none.dropna().tolist()[1:] == [1], "something is found for the joke"
    right = r"Queries that find the expected tool: 0\."
    assert rf"{right}333" in page.text and "n = 3" in page.text
    mails = by_name(page.work, page.catalog_id, "send_mail")
    review.decide(page.now, "accept", mails, "ann")
    page.at.toggle(key="equal_as_one").set_value(True).run()
    assert rf"{right}667" in page.text, "the merged mails count as one"


@pytest.mark.parametrize(
    ("view", "kind", "columns", "words"),
    [
        ("Stress", "stress", ("recall",), "**recall**: "),
        ("Sweep", "sweep", ("recall",), "**recall**: "),
        ("Plans", "plan", ("tools called", "exact"), "**exact**: "),
        ("Ablation", "ablation", ("reranker", "merger", "CSR@10"), ""),
    ],
)
def test_each_experiment_has_a_table_and_series_a_picture(page, view, kind, columns, words):
    measure(page, kind=kind)
    experiment(page, view)
    rows = page.tables(*columns)[0]
    assert len(rows) == {"plan": 2, "ablation": 10}.get(kind, len(rows)) and words in page.text
    assert bool(page.at.get("plotly_chart")) == (kind in ("stress", "sweep"))


@pytest.fixture
def server():
    with ModelServer() as running:
        yield running


def choosing(request):
    """A model that takes the second tool for mails, which is the one that is needed."""
    (question,) = re.findall(r"^(\w{12}): job", request.user, re.MULTILINE)
    tools = re.findall(r"--- begin tool 1\.(\d+) .*\n(.*)", request.user)
    mails = [int(number) for number, text in tools if '"send_mail"' in text]
    return {"answers": [{"question": question, "tool": mails[1] if len(mails) > 1 else 0}]}


def calls_of(result, kind):
    """The figure that a model's choice decides, before and after."""
    if kind == "comparison":
        return [result[side]["metrics"]["csr@10"]["mean"] for side in ("before", "after")]
    if kind == "ablation":
        return [row["metrics"]["csr@10"]["mean"] for row in result["rows"]]
    if kind == "plan":
        return [row["precision"]["mean"] for row in result["plans"]]
    return [points[-1]["recall"]["mean"] for points in result["toolsets"].values()]


@pytest.mark.parametrize("kind", ["comparison", "ablation", "plan", "stress"])
def test_a_model_takes_the_tools_of_a_query_set(page, server, kind):
    nothing = planning(lambda job, tools: [])
    server.answer = served(
        lambda request: choosing(request) if request.name == "selection" else nothing(request)
    )
    page.open("evaluation", evaluation_view="Result") if kind == "comparison" else experiment(
        page, {"ablation": "Ablation", "plan": "Plans", "stress": "Stress"}[kind]
    )
    page.at.selectbox(key="selector").select("a model").run()
    assert page.at.button(key="measure").disabled and "No model is set up" in page.text
    page.work.endpoints.save(Endpoint(server.url, "m"))
    page.at.run()
    most, *_ = page.figures("at most")
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind(kind)))
    assert "taken by a model" in page.text
    assert 0 < len(server.received) <= most
    (by_model, *_) = experiments.all(page.now)
    by_search = measure(page, kind=kind, select="best" if kind == "stress" else "")
    before = calls_of(get_experiment(page.work.store, by_search).result, kind)
    asked = calls_of(get_experiment(page.work.store, by_model.number).result, kind)
    assert asked != before
    sent = len(server.received)
    measure(page, kind=kind, select="model")
    assert len(server.received) == sent, "Answers are kept"


def test_a_budget_that_is_used_up_keeps_the_answers_and_no_figures(page, server):
    server.answer = served(choosing)
    page.work.endpoints.save(Endpoint(server.url, "m", budget=Budget(calls=2)))
    with pytest.raises(PausedError):
        measure(page, select="model")
    page.open("evaluation")
    assert "Nothing is measured yet" in page.text and len(server.received) == 2
    page.work.endpoints.save(Endpoint(server.url, "m"))
    measure(page, select="model")
    page.open("evaluation")
    assert "taken by a model" in page.text


def test_servers_are_found_over_a_query_set(page):
    """The set's own servers count, and otherwise those of the needed tools."""
    rows = [
        {"id": "s", "query": "add up numbers", "gold_servers": ["beta"]},
        {"id": "t", "query": "list the files of a folder", "gold": ["alpha/list_files"]},
        {"id": "u", "query": "list files", "gold_servers": ["nowhere"]},
    ]
    add_queries(page.work, page.catalog_id, rows)
    experiment(page, "Servers")
    page.at.selectbox(key="evaluation_corpus").select("tools only").run()
    page.at.selectbox(key="evaluation_search").select("as in Tool-to-Agent").run()
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind("servers")))
    assert "servers, as it is against" in page.text and "2 queries of q" in page.text
    (kept, *_) = experiments.all(page.now)
    whole = get_experiment(page.work.store, kept.number)
    assert whole.configuration["retrieval"]["corpus"] == "tools"
    assert [row["gold"] for row in whole.result["queries"]] == [[["beta"]], [["alpha"]]]
    assert whole.result["before"]["metrics"]["recall@3"]["mean"] == 1.0
    assert {one for row in whole.result["queries"] for one in row["ranking"]} <= {
        *("alpha", "beta", "gamma")
    }
    page.at.segmented_control(key="experiment").set_value("Kept runs").run()
    page.tick("experiments", 0)
    page.press("open_")
    assert "servers, as it is against" in page.text


def test_an_ablation_has_the_search_of_a_paper_or_single_settings(page):
    experiment(page, "Ablation")
    page.at.selectbox(key="evaluation_search").select("as in Tool-to-Agent").run()
    page.at.selectbox(key="evaluation_rerank").select("off").run()
    page.at.selectbox(key="evaluation_assembly").select("the best of each part first").run()
    page.at.toggle(key="set_alpha").set_value(True).run()
    page.at.slider(key="alpha").set_value(0.0).run()
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind("ablation")))
    (kept, *_) = experiments.all(page.now)
    search = kept.configuration["retrieval"]
    own = (search["dense_weight"], search["assembly"], search["rerank"], search["step_weight"])
    assert own == (0.0, "top1", "none", "inf")
    assert len(page.tables("reranker")[0]) == 10 and "α 0, the best of each" in page.text


def test_a_search_splits_requests_as_its_paper_does():
    splits = {name: ExperimentRequest(search=name).request_split for name in SEARCHES.values()}
    assert splits["toolscope"] == "steps" and splits["tool2vec"] == "none"
    assert splits[""] == splits["rps"] == "rules"
    assert ExperimentRequest(search="toolscope", split="rules").request_split == "rules"


def splitting(request):
    """A model that hears other wishes in each request."""
    questions = re.findall(r"^(\w{12}): request", request.user, re.MULTILINE)
    return {
        "answers": [{"question": one, "steps": ["list files", "add numbers"]} for one in questions]
    }


@pytest.mark.parametrize("name", ["by a model", "by a model in context"])
def test_a_model_splits_the_requests_of_an_experiment(page, server, name):
    server.answer = served(splitting)
    page.work.endpoints.save(Endpoint(server.url, "m"))
    experiment(page, "Sweep", knob="number of tools returned (top k)")
    page.at.selectbox(key="evaluation_split").select(name).run()
    most, *_ = page.figures("at most")
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind("sweep")))
    assert f"split {name}." in page.text and 0 < len(server.received) <= most
    shown = "--- begin tool 1.1" in server.received[0].user
    assert shown == (name == "by a model in context")
    (kept, *_) = experiments.all(page.now)
    numbers = kept.number, measure(page, kind="sweep", knob="k", split="none")
    split, whole = (
        [point["metrics"] for point in get_experiment(page.work.store, one).result["points"]]
        for one in numbers
    )
    assert split != whole, "the parts lead elsewhere"


def test_splits_are_read_from_a_file(page):
    page.work.endpoints.save(Endpoint("http://localhost:9", "m"))
    experiment(page, "Stress")
    page.at.selectbox(key="evaluation_split").select("by a model").run()

    def upload(content):
        page.at.file_uploader(key="splits_file").upload("s.jsonl", content, "text/plain").run()

    upload(b'{"id": "a", "steps": ["list the files"]}')
    assert "dummy" in page.at.error[0].value, "the file has no such splits"
    upload(b'{"id": "a", "dummy": ["list the files"]}')
    assert "at most" not in page.text and not page.at.error, "no model is asked"
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind("stress")))
    assert "split by a model, from a file" in page.text
    tests = set(page.tables("toolset", "recall")[0]["toolset"])
    assert {"as it is, whole", "as it is, by a model"} <= tests


def test_an_encoder_sweep_asks_for_names_and_draws_them(page):
    experiment(page, "Sweep", knob="embedding model (the encoder)")
    (names,) = page.at.text_area
    own = page.work.embedder.name
    assert names.value == own
    number = measure(page, kind="sweep", knob="encoder", encoders=(own,))
    experiment(page, "Sweep", knob="embedding model (the encoder)", x=str(number))
    assert list(page.tables("smaller by")[0]["value"]) == [own]
    assert page.at.get("plotly_chart")


def test_an_encoder_is_tuned_on_the_other_query_sets_and_measured(page, tmp_path, monkeypatch):
    monkeypatch.setattr(learned_searches, "TUNED_MODEL", str(save_tiny_bert(tmp_path)))
    experiment(page, "Sweep", knob="embedding model (the encoder)")
    assert page.button("tune_encoder").disabled, "the set to measure is no lesson"
    add_queries(page.work, page.catalog_id, test_learned_searches.QUERIES, "logged.jsonl")
    page.open("evaluation")
    assert "on 12 queries, about 5 s" in page.button("tune_encoder").label
    page.press("tune_encoder")
    page.after(page.now.job(learned_searches.TUNING))
    folder = learned_searches.tuning_folder(page.now)
    assert (folder / "model.safetensors").is_file() and folder.name in page.text
    page.at.text_area(key="encoders").set_value(str(folder)).run()
    page.at.button(key="measure").click().run()
    page.after(page.now.job(evaluations.job_kind("sweep")))
    assert list(page.tables("smaller by")[0]["value"]) == [str(folder)]
    with pytest.raises(ConfigError, match="trained on every"):
        request = ExperimentRequest(
            "sweep", "logged.jsonl", knob="encoder", encoders=(str(folder),)
        )
        evaluations.run(page.now, request)


def test_experiments_are_listed_with_what_is_out_of_date(page):
    first = measure(page)
    mails = by_name(page.work, page.catalog_id, "send_mail")
    review.decide(page.now, "accept", mails, "ann")
    second = measure(page, kind="stress")
    page.open("evaluation", x=str(first))
    assert "changed since" in page.text
    experiment(page, "Kept runs")
    rows = page.tables("state")[0]
    assert list(rows["number"]) == [second, first]
    assert list(rows["state"]) == ["current", "decisions changed"]
    third = measure(page)
    page.at.run()
    page.tick("experiments", 0, 2)
    side_by_side = page.tables("figure", "change")[0]
    assert f"experiment {third}" in side_by_side and f"experiment {first}" in side_by_side
    page.press(f"open_{first}")
    assert "changed since" in page.text
    experiment(page, "Kept runs")
    page.tick("experiments", 0)
    page.press(f"delete_{third}")
    assert list(page.tables("state")[0]["number"]) == [second, first]


def test_a_half_finished_sweep_is_shown_and_said(page):
    number = measure(page, kind="sweep")
    whole = get_experiment(page.work.store, number).result
    keep_result(page.work.store, number, {"points": whole["points"][:2]}, 1.0, is_done=False)
    experiment(page, "Sweep")
    assert "Not finished" in page.text
    assert len(page.tables("smaller by")[0]) == 2
    keep_result(page.work.store, number, {}, 1.0, is_done=False)
    experiment(page, "Sweep")
    assert "Nothing is measured yet" in page.text


@pytest.mark.parametrize("view", ["Result", "Confusions"])
def test_one_that_is_measured_now_or_was_cancelled_is_not_drawn(page, view):
    first = measure(page)
    later = open_experiment(page.work.store, page.catalog_id, "comparison", {"queries": "q.jsonl"})
    page.open("evaluation", evaluation_view=view)
    assert f"Experiment {first}," in page.text
    delete_experiment(page.work.store, first)
    page.open("evaluation", evaluation_view=view, x=str(later.number))
    assert "Nothing is measured yet" in page.text


def test_a_damaged_experiment_is_said_and_not_drawn(through_the_app, page):
    keep_result(page.work.store, measure(page), {"x": 1}, 1.0, is_done=True)
    page.open("evaluation")
    assert "is damaged" in page.text


def test_synthetic_requests_are_called_so(page):
    evaluations.run(page.now, ExperimentRequest())
    page.open("evaluation")
    assert page.at.warning[0].value.startswith("Synthetic")


def test_what_was_measured_stands_where_people_decide(page):
    number = measure(page, after="all proposals")
    rain = by_name(page.work, page.catalog_id, "get_weather")
    pair = Pair.of("alpha/send_mail", "beta/send_mail")
    page.open("overlap", pair=pair_key(pair))
    assert page.figures("confuses these two") == [1, number]
    assert experiments.confusion_of(page.now, Pair.of(*rain.members)) is None


def test_a_card_says_what_its_merge_does_to_the_requests_there_are(page):
    mails = by_name(page.work, page.catalog_id, "send_mail")
    page.open("review", cluster=mails.id)
    assert "before and after" in page.text
    page.after(page.now.job(change_effect_panel.KIND))
    requests, won, lost, *_, need_two = page.figures("not enough queries")
    assert (requests, won, lost, need_two) == (2, 1, 0, 1)
    assert list(page.tables("request")[0]["request"]) == ["send a mail to a person"]


def test_an_experiment_names_its_queries_in_a_sentence():
    def sentence(queries):
        config = {"before": "A", "after": "B", "queries": queries, "query_count": 3}
        return described(SimpleNamespace(configuration=config, kind="comparison"))

    assert "3 queries made from descriptions" in sentence(SYNTHETIC)
    assert "3 queries of mine" in sentence("mine")
