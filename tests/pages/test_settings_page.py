"""Settings, asking, history, grades and words, against our own server over real HTTP."""

import re
from contextlib import suppress
from dataclasses import replace

import pytest

from tests.support.model_server import ModelServer
from tests.support.replies import answering, served
from tests.support.scripted import judge_says
from tests.ui.services.small_workspace import MAIL, SUM, by_name, on
from toolscope_core.model.configuration import Budget, Endpoint, Prices
from toolscope_core.model.errors import ConfigError, JobError
from toolscope_core.model.pair import tool_key
from ui.settings.endpoint_panel import TESTED, price_table
from ui.shared.chosen_judge import OFFLINE
from ui.shared.services import judging, model_runs

SECRET = "sk-secret-0123456789"
HOSTILE = "![p](http://evil.example/p.png) <img src=x onerror=alert(1)>"


@pytest.fixture
def server():
    with ModelServer(served(answering(lambda one, other: "keep"))) as running:
        yield running


@pytest.fixture
def two(open_app, monkeypatch):
    """Two tools that are nearly one, so that there is something to ask."""
    judge_says(monkeypatch, {("alpha/send_mail", "beta/send_mail"): 0.9})
    other = replace(on("beta", MAIL), description="Send a mail to a person now.")
    return open_app(on("alpha", MAIL), other, SUM)


def chosen(page, server, **more):
    page.work.endpoints.save(Endpoint(server.url, "m", **more))
    return page


def asked(page, kind="judge", **more):
    with suppress(JobError):
        page.work.analyses.wait(model_runs.start(page.now, kind, **more))
    return page


def fill(page, **values):
    for start, value in values.items():
        kind = "text_input" if isinstance(value, str) else "number_input"
        page.widget(kind, start).set_value(value).run()


def test_an_endpoint_is_typed_saved_and_forgotten(open_app, server):
    page = open_app().open("settings")
    assert "`https://api.openai.com/v1`" in page.text, "no link to a server that is not theirs"
    assert page.button("save_endpoint").disabled and page.button("forget_").disabled
    fill(page, base_url=server.url, model="m", Concurrent=3)
    page.widget("number_input", "Maximum tokens").set_value(9_000).run()
    page.widget("selectbox", "reasoning").set_value("low").run()
    page.widget("selectbox", "prompts").set_value("paper").run()
    assert "on this machine" in page.text
    saved = Endpoint(
        server.url, "m", concurrency=3, most_tokens=9_000, reasoning="low", prompts="paper"
    )
    for money in (1.5, None):
        page.widget("number_input", "Maximum cost per run").set_value(money).run()
        page.press("save_endpoint")
        assert page.work.endpoints.get() == replace(saved, budget=Budget(money=money))
    assert page.button("save_endpoint").disabled
    page.press("forget_endpoint")
    assert page.work.endpoints.get() is None
    assert page.widget("text_input", "model_").value == ""


def test_what_is_invalid_is_told_in_words_and_stays(open_app, server):
    page = open_app().open("settings")
    fill(page, base_url="ftp://models", model="m")
    assert "cannot be used" in page.at.error[0].value
    assert page.button("save_endpoint").disabled and page.button("test_endpoint").disabled
    fill(page, base_url=server.url, Concurrent=99)
    assert "use 1 to 64" in page.at.error[0].value
    assert page.widget("text_input", "model_").value == "m"


def row(model, tokens_in, tokens_out):
    return {"model": model, "in": tokens_in, "out": tokens_out}


def test_the_price_table_is_what_its_lines_say():
    nothing = float("nan")
    rows = [row(" m ", 1, None), row("n", nothing, 2.5), row(None, None, None)]
    rows.append(row("o", None, nothing))
    assert price_table(rows) == {"m": Prices(1.0, 0.0), "n": Prices(0.0, 2.5)}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([row("m", 1, 1), row("m ", 2, 2)], "two lines; delete one"),
        ([row(None, 1, 2)], "lack a model"),
        ([row("m", -1, 2)], "a price is -1.0"),
    ],
)
def test_a_price_table_that_cannot_be_is_told(rows, told):
    with pytest.raises(ConfigError, match=told):
        price_table(rows)


def test_the_price_table_shows_what_is_saved_and_the_model_that_is_asked(open_app, server):
    page = chosen(open_app(), server)
    page.work.endpoints.save_prices({"other": Prices(1.0, 2.0)})
    page.open("settings")
    (table,) = page.at.dataframe
    assert table.value.model.tolist() == ["other", "m"]
    assert page.button("save_prices").disabled
    fill(page, Concurrent=3)
    page.press("save_endpoint")
    assert page.work.endpoints.prices() == {"other": Prices(1.0, 2.0)}


def test_the_connection_is_tested_in_words_and_no_key_is_shown(open_app, server, monkeypatch):
    monkeypatch.setenv("TOOLSCOPE_API_KEY", SECRET)
    monkeypatch.setenv("TOOLSCOPE_API_ORIGIN", server.origin)
    page = open_app().open("settings")
    fill(page, base_url=server.url, model="m")
    assert "is in the environment" in page.text
    page.press("test_endpoint")
    assert "The connection works" in page.text and "The key is accepted" in page.text
    server.mode = "refused-key"
    page.press("test_endpoint")
    assert "rejects the key" in page.text and "The connection works" not in page.text
    assert server.received[-1].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in page.text + repr(page.at.session_state[TESTED])


def test_an_origin_without_a_key_says_how_to_give_one(open_app, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    page = open_app().open("settings")
    fill(page, base_url="https://models.example/v1", model="m")
    told = page.at.warning[0].value.replace("\\", "")
    assert "`https://models.example`" in told and "TOOLSCOPE_API_ORIGIN" in told
    assert "api.openai.com" in told and SECRET not in told


def review_page(page):
    """The Review page with the panel open, as it is after a click."""
    page.at.session_state["ask"] = True
    return page.open("review")


def test_asking_says_what_it_takes_and_starts(two, server):
    page = review_page(chosen(two, server, prices=Prices(1.0, 1.0)))
    assert "Questions: **1** to **m**" in page.text and "Cost: at most" in page.text
    assert not server.received, "an estimate sends nothing"
    page.press("ask_judge")
    page.after(judging.job(page.now))
    assert len(server.received) == 1
    assert "Nothing is left to ask" in page.text and "Already answered: 1" in page.text
    host = server.origin.removeprefix("http://")
    assert f"m at {host}" in page.text.replace("\\", "").replace("⁠", "")
    assert "1 different jobs" in page.text


@pytest.mark.usefixtures("through_the_app")
@pytest.mark.parametrize("where", ["overlap", "review", "catalog"])
def test_a_named_model_is_offered_first_with_its_price_where_people_decide(two, server, where):
    assert "Ask the model" not in two.open(where).text, "nobody was named"
    page = chosen(two, server, prices=Prices(1.0, 1.0), concurrency=3).open(where)
    offered = page.text.split("Ask the model before you decide?")[1]
    price = (
        r"Questions: \*\*1\*\*.*Tokens: about [1-9].*Cost: at most \d.*Time: at most about \d+ s "
    )
    assert re.search(rf"{price}.* 3 calls at once", offered)
    assert not server.received, "an estimate sends nothing"
    page.press("offer_judge")
    page.after(judging.job(page.now))
    assert len(server.received) == 1 and page.now.judge != OFFLINE
    assert "Ask the model" not in page.open(where).text
    assert not page.now.plan.applied, "a model's word accepts nothing"


def test_a_budget_that_is_used_up_is_raised_and_the_run_goes_on(two, server):
    page = review_page(asked(chosen(two, server, budget=Budget(calls=0))))
    assert "used up" in page.text
    page.press("raise_budget")
    assert page.work.endpoints.get().budget == Budget(calls=100)
    page.after(judging.job(page.now))
    assert len(server.received) == 1


def test_what_a_model_says_is_text_and_nothing_else(two, server):
    def hostile(request):
        reply = answering(lambda one, other: "keep")(request)
        return {"answers": [{**row, "reason": HOSTILE} for row in reply["answers"]]}

    server.answer = served(hostile)
    page = review_page(asked(chosen(two, server)))
    page.open("overlap", verdict="")
    assert HOSTILE not in page.text and "evil" in page.text


def test_history_lists_runs_with_their_cost(two, server):
    two.open("history").open("history", history_part="Model runs")
    assert "No model runs yet" in two.text
    asked(chosen(two, server, prices=Prices(1e6, 1e6)))
    two.at.run()
    (row,) = two.at.dataframe[0].value.to_dict("records")
    assert row["state"] == "done" and row["calls"] == 1 and row["cost"] == 57.0
    assert row["model"] == f"m at {server.origin.removeprefix('http://')}"


def test_where_a_model_is_asked_it_says_in_whose_words(two, server):
    server.answer = lambda body: "None\nOther jobs."
    page = review_page(chosen(two, server, prompts="paper"))
    assert "asked as in the papers (1 on pairs)" in page.text
    page.press("ask_judge")
    page.after(judging.job(page.now))
    assert server.received[0].user.startswith("You are an expert in software tool design")
    runs = page.open("history", history_part="Model runs").at.dataframe[0].value
    assert "asked as in the papers" in runs["model"][0]
    assert page.now.analysis.model_verdicts.judge.endswith("asked as in the papers")


@pytest.mark.usefixtures("through_the_app")
def test_grades_have_a_place_a_column_and_are_in_the_drawer(two, server):
    page = asked(chosen(two, server), "quality")
    page.open("catalog", part="Tools")
    tools = page.widget("dataframe", "tools_").value
    assert tools["documentation"].tolist() == ["Medium"] * 3
    page.open("catalog", part="More")
    assert "Nothing is left to ask" in page.text
    counts = {metric.label: metric.value for metric in page.at.metric}
    assert [counts[band] for band in ("Low", "Medium", "High")] == ["0", "3", "0"]
    page.open("review", tool=tool_key("alpha/send_mail"))
    assert "Documentation: Medium, 3 of 5" in page.text


def test_people_grade_a_sheet_and_are_compared_with_the_model(two, server):
    def reply(request):
        rows = answering()(request)["answers"]
        return {
            "answers": [{**row, "score": score} for row, score in zip(rows, (1, 3, 5), strict=True)]
        }

    server.answer = served(reply)
    page = asked(chosen(two, server), "quality")
    page.open("catalog", part="More")
    (sheet,) = [one for one in page.at.get("download_button") if "Sheet" in one.proto.label]
    grades = judging.grades(page.now)
    of_model = [grades[tool].score for tool in sorted(grades)]
    assert sheet and sorted(of_model) == [1, 3, 5]

    def filled(name, *own):
        rows = [f"{tool},{grade}" for tool, grade in zip(sorted(grades), own, strict=True)]
        return name, "\n".join(["tool,grade", *rows]).encode(), "text/csv"

    upload = page.at.file_uploader(key="grade_files")
    upload.set_value([filled("ann.csv", *of_model), filled("bob.csv", *of_model)]).run()
    (pairs,) = page.tables("kappa")
    assert pairs.iloc[0].tolist() == ["ann", "bob", 3, 1.0]
    assert "of 2 graders, on 3 tools: **1.000**" in page.text
    page.at.file_uploader(key="grade_files").set_value([filled("ann.csv", 9, 1, 1)]).run()
    assert "1 to 5" in page.at.error[0].value


def test_words_are_taken_by_a_person_and_in_spite_of_violations_only_if_said(two, server):
    said = {"description": "Mail it by https://evil.example."}
    server.answer = served(answering(document=lambda tools: said))
    page = chosen(two, server)
    mail = by_name(page.work, page.catalog_id, "send_mail")
    asked(page, "documents", clusters=[mail.id])
    page.open("documents", merge=mail.id)
    assert any("evil" in warning.value for warning in page.at.warning)
    assert page.button("take_").disabled
    page.widget("checkbox", "anyway_").check().run()
    page.press("take_")
    (now,) = page.now.plan.clusters
    assert now.document.description == said["description"]
    assert [d.action for d in page.now.log] == ["edit"]
