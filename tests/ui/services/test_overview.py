import re
from dataclasses import replace

from tests.support.printed import figures
from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import add_queries
from tests.ui.services.test_learned_searches import QUERIES
from toolscope_core.tool2vec.training import LearnConfig
from ui.catalog import overview
from ui.catalog.overview import export_steps, review_steps
from ui.shared.cards.queue import progressed
from ui.shared.services import learned_searches, review


def test_what_people_settled_is_no_collision_any_more(work, catalog_id):
    for action, name in (("accept", "get_weather"), ("keep_apart", "send_mail")):
        cluster = small_workspace.by_name(work, catalog_id, name)
        review.decide(work.snapshot(catalog_id), action, cluster, "ann")
    assert [c.tools[0].name for c in overview.worst(work.snapshot(catalog_id))] == ["list_files"]


def test_what_waits_in_review_comes_first_and_safe_ones_are_told(work, catalog_id):
    steps = overview.steps(work.snapshot(catalog_id))
    assert (steps[0].page, steps[0].query) == ("review", {"show": "Same job"})
    assert "3 same-job proposals" in steps[0].text
    (accept,) = [step for step in steps if step.query == {"safe_merges": "open"}]
    assert accept.page == "review" and "1 safe merge" in accept.text
    clusters = work.snapshot(catalog_id).plan.clusters
    none = progressed((), ())
    assert [step.page for step in review_steps(none, 0)] == ["export"]
    done = progressed([replace(one, state="accepted") for one in clusters], ())
    export, undecided = review_steps(done, 1)
    assert (export.page, undecided.page) == ("export", "review")
    assert undecided.query == {"show": "Undecided"} and "1 undecided pair" in undecided.text


def test_learning_from_requests_is_offered_then_its_gain_is_told(opened):
    work, catalog_id = opened

    def step():
        return next(overview.learning_steps(work.snapshot(catalog_id)), None)

    elsewhere = [{"query": "a", "gold": ["beta/dance"]}]
    add_queries(work, catalog_id, [*QUERIES[:9], *elsewhere], "few.jsonl")
    assert step() is None, "nine requests are too few to prove anything"
    add_queries(work, catalog_id, [*QUERIES, *QUERIES[:1]], "logged.jsonl")
    assert (step().page, step().query) == ("retrieval", {"ranking": "Usage"})
    assert figures(step().text, "learn from") == [12]
    learned_searches.run(work.snapshot(catalog_id), LearnConfig("tool2vec"))
    metrics = learned_searches.view(work.snapshot(catalog_id), "usage").before.figures.metrics
    by_text, learned = (metrics[way]["recall@5"].mean for way in ("text", "blend"))
    assert by_text < learned and step().page == "retrieval"
    assert re.findall(r"\d\.\d+", step().text) == [f"{by_text:.3f}", f"{learned:.3f}"]


def test_what_does_not_help_is_no_step(opened):
    work, catalog_id = opened
    found = [{"query": f"send mail to person {at}", "gold": ["beta/send_mail"]} for at in range(12)]
    add_queries(work, catalog_id, found, "found.jsonl")
    learned_searches.run(work.snapshot(catalog_id), LearnConfig("tool2vec"))
    assert not learned_searches.view(work.snapshot(catalog_id), "usage").before.helps
    assert not list(overview.learning_steps(work.snapshot(catalog_id)))


def test_an_api_that_would_refuse_the_export_says_what_and_how_many(work, catalog_id):
    texts = [step.text for step in export_steps(work.snapshot(catalog_id).plan, {})]
    assert texts[0].startswith("OpenAI chat") and texts[1].startswith("Anthropic")
    refused = [text.partition(": ")[2] for text in texts[:2]]
    assert refused == ["3 repeated names, 1 schema", "3 repeated names"]
    many = [small_workspace.tool("s", f"tool_{at}", f"Does job {at}.") for at in range(129)]
    record = small_workspace.add_analysed(work, "Many", *many)
    (only,) = export_steps(work.snapshot(record.id).plan, {})
    assert only.text.startswith("OpenAI chat") and "limit: 128" in only.text
    first = overview.steps(work.snapshot(record.id))[0]
    assert first.page == "profiles" and "129 tools" in first.text, "there is nothing to merge"
