from dataclasses import replace

from tests.ui.services import small_workspace
from ui.catalog import overview
from ui.catalog.overview import NextStep, export_steps, review_steps
from ui.shared.cards.queue import progressed
from ui.shared.services import review


def test_what_people_settled_is_no_collision_any_more(work, catalog_id):
    for action, name in (("accept", "get_weather"), ("keep_apart", "send_mail")):
        cluster = small_workspace.by_name(work, catalog_id, name)
        review.decide(work.snapshot(catalog_id), action, cluster, "ann")
    assert [c.tools[0].name for c in overview.worst(work.snapshot(catalog_id))] == ["list_files"]


def test_what_waits_in_review_comes_first_and_safe_ones_are_told(work, catalog_id):
    steps = overview.steps(work.snapshot(catalog_id))
    assert steps[0] == NextStep(
        "Review 3 proposals for the same job", "review", {"show": "Same job"}
    )
    accept = "1 safe merge waits: accept in one go"
    assert NextStep(accept, "review", {"safe_merges": "open"}) in steps
    clusters = work.snapshot(catalog_id).plan.clusters
    none = progressed((), ())
    assert [step.text for step in review_steps(none, 0)] == ["Nothing is proposed: export"]
    done = progressed([replace(one, state="accepted") for one in clusters], ())
    assert list(review_steps(done, 1)) == [
        NextStep("Everything is reviewed: export", "export"),
        NextStep("Decide on 1 undecided pair", "review", {"show": "Undecided"}),
    ]


def test_an_api_that_would_refuse_the_export_says_what_and_how_many(work, catalog_id):
    texts = [step.text for step in export_steps(work.snapshot(catalog_id).plan, {})]
    assert texts[:2] == [
        "OpenAI chat would refuse these tools: 4 repeated names, 1 schema",
        "Anthropic would refuse these tools: 4 repeated names",
    ]
    many = [small_workspace.tool("s", f"tool_{at}", f"Does job {at}.") for at in range(129)]
    record = small_workspace.add_analysed(work, "Many", *many)
    (only,) = export_steps(work.snapshot(record.id).plan, {})
    assert only.text == "OpenAI chat would refuse these tools: more than 128 tools"
