"""Document variants of a catalog: loaded, decided on, searched, exported, taken back."""

import json
from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import MAIL, TOOLS, accept_variants, add_queries, catalog
from toolscope_core.decisions.imported_decisions import decisions_in
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Augmentation
from ui.evaluation.evaluations import Evaluations, Wanted
from ui.evaluation.measured_sides import VARIANT_SIDES
from ui.shared.services.experiments import Experiments
from ui.shared.services.exports import Exports
from ui.shared.services.reviewed_variants import Variants
from ui.shared.services.searches import Lookup, Searches

WRITTEN = Augmentation("Sends a mail to somebody.", ("Write to Ann about lunch",))
ROWS = [
    {"tool": "alpha/send_mail", "expanded": WRITTEN.expanded, "questions": list(WRITTEN.questions)},
    {
        "tool": "beta/get_weather",
        "expanded": "Tells the weather.",
        "questions": ["Take an umbrella today"],
    },
    {"tool": "add_numbers", "expanded": "See https://evil.example.", "questions": []},
    {"tool": "gone", "expanded": "Nothing.", "questions": []},
]
LINES = "\n".join(map(json.dumps, ROWS)).encode()


@pytest.fixture
def variants(work):
    return work.service(Variants)


@pytest.fixture
def own(own):
    work, catalog_id = own
    variants = work.service(Variants)
    assert variants.preview(catalog_id, LINES, "v.jsonl").unknown == ("gone",)
    assert variants.views(catalog_id) == ()
    assert variants.add(catalog_id, LINES, "v.jsonl") == 3
    return own


def states(work, catalog_id):
    return {view.tool.id: view.state for view in work.service(Variants).views(catalog_id)}


def first(work, catalog_id, **change):
    lookup = Lookup("take an umbrella today", k=1, **change)
    view = work.service(Searches).look(catalog_id, lookup)
    return [place.name for place in view.after.places]


def test_nothing_is_read_before_somebody_accepts_it(work, catalog_id, variants):
    assert set(states(work, catalog_id).values()) == {"waiting"}
    assert variants.accepted(catalog_id) == {}
    assert first(work, catalog_id) != ["get_weather"]
    accept_variants(variants, catalog_id)
    assert states(work, catalog_id) == {
        "alpha/send_mail": "accepted",
        "beta/get_weather": "accepted",
        "beta/add_numbers": "waiting",  # it cites an address that its tool does not
    }


def test_searches_read_what_was_accepted_unless_told_otherwise(work, catalog_id, variants):
    everything = {tool.id: Augmentation(tool.description) for tool in TOOLS}
    asked = Augmentation("", ("Take an umbrella today",))
    variants.decide(catalog_id, {**everything, "beta/get_weather": asked}, "ann")
    assert first(work, catalog_id) == ["get_weather"]
    assert first(work, catalog_id, variants=False) != ["get_weather"]


def test_an_edit_and_a_rejection_hold_until_they_are_taken_back(work, catalog_id, variants):
    accept_variants(variants, catalog_id)
    shorter = replace(WRITTEN, questions=())
    edited = variants.decide(catalog_id, {"alpha/send_mail": shorter}, "bob")
    rejected = variants.decide(catalog_id, {"beta/get_weather": Augmentation("")}, "bob")
    assert [*sorted(states(work, catalog_id).values())] == ["edited", "rejected", "waiting"]
    assert variants.accepted(catalog_id) == {"alpha/send_mail": shorter}
    work.review.undo(catalog_id, "bob", rejected.seq)
    work.review.undo(catalog_id, "bob", edited.seq)
    assert variants.accepted(catalog_id)["alpha/send_mail"] == WRITTEN


def test_merges_and_variants_do_not_wait_for_each_other(work, catalog_id, variants):
    mail = next(c for c in work.review.queue(catalog_id) if "alpha/send_mail" in c.members)
    both = dict.fromkeys(("alpha/send_mail", "beta/send_mail"), WRITTEN)
    written = variants.decide(catalog_id, both, "ann")
    accepted = work.review.decide(catalog_id, "accept", mail, "ann")  # as it was shown before
    assert work.review.decide(catalog_id, "accept", mail, "ann") == accepted
    work.review.undo(catalog_id, "ann", written.seq)
    again = variants.decide(catalog_id, both, "ann")
    work.review.undo(catalog_id, "ann", accepted.seq)
    assert again in work.review.standing(catalog_id)


def test_a_changed_tool_loses_its_variant_and_the_others_keep_theirs(work, catalog_id, variants):
    accept_variants(variants, catalog_id)
    others = [tool for tool in TOOLS if tool.id != MAIL.id]
    newer = work.catalogs.add("Desk", catalog(replace(MAIL, description="Post."), *others)).id
    assert set(variants.accepted(newer)) == {"beta/get_weather"}
    assert "alpha/send_mail" not in states(work, newer)


def test_the_bundle_has_them_by_the_ids_that_leave_and_replays_them(work, catalog_id, variants):
    config = PlanConfig(accept="auto")
    assert "variants.jsonl" not in work.service(Exports).bundle(catalog_id, config)
    accept_variants(variants, catalog_id)
    files = work.service(Exports).bundle(catalog_id, config)
    rows = [json.loads(line) for line in files["variants.jsonl"].splitlines()]
    leaving = {item.tool.id for item in work.review.plan(catalog_id, config).tools}
    assert {row["tool"] for row in rows} <= leaving
    assert [row["questions"] for row in rows if "mail" in row["tool"]] == [list(WRITTEN.questions)]
    assert "variants.jsonl" in json.loads(files["manifest.json"])["sha256"]
    replayed = decisions_in(work.catalogs.open(catalog_id), files["decisions.jsonl"], "d.jsonl")
    assert [one.action for one in replayed] == ["augment"]


def test_they_are_measured_beside_the_toolset_as_it_is(work, catalog_id, variants):
    assert "with variants" not in work.service(Evaluations).sides.names(catalog_id)
    accept_variants(variants, catalog_id)

    assert set(VARIANT_SIDES) <= set(work.service(Evaluations).sides.names(catalog_id))
    for side in VARIANT_SIDES:
        number = work.service(Evaluations).run(catalog_id, Wanted(after=side))
        assert work.service(Experiments).get(number).is_done


def test_on_request_the_toolset_says_what_was_accepted(work, catalog_id, variants):
    accept_variants(variants, catalog_id)

    def descriptions(**more):
        config = PlanConfig(accept="none", **more)
        files = work.service(Exports).bundle(catalog_id, config, "neutral")
        about = json.loads(files["manifest.json"])["configuration"]
        assert about.get("expanded", False) is more.get("expanded", False)
        tools = json.loads(files["toolset.json"])["tools"]
        return {tool["id"]: tool["description"] for tool in tools}

    plain, expanded = descriptions(), descriptions(expanded=True)
    changed = {one for one in plain if plain[one] != expanded[one]}
    assert changed == {"alpha/send_mail", "beta/get_weather"}
    assert expanded["alpha/send_mail"] == WRITTEN.expanded
    sizes = (PlanConfig(expanded=is_on) for is_on in (True, False))
    one, other = (work.service(Exports).figures(catalog_id, config).size for config in sizes)
    assert one != other


def test_what_people_edited_or_merged_keeps_its_wording(work, catalog_id, variants):
    accept_variants(variants, catalog_id)
    config = PlanConfig(accept="all", expanded=True)
    plan = work.review.plan(catalog_id, config)
    plain = work.review.plan(catalog_id, replace(config, expanded=False))
    for item, before in zip(plan.tools, plain.tools, strict=True):
        if len(item.members) > 1 and before.tool.description != MAIL.description:
            assert item == before


def test_unseen_only_those_are_accepted_that_lose_no_request(work, catalog_id, variants):
    with pytest.raises(DecisionError, match="no request of a query set measures"):
        variants.accept_measured(catalog_id, "ann")
    rows = [
        {"id": "a", "query": "get the weather", "gold": ["beta/get_weather"]},
        {"id": "b", "query": "send a mail", "gold": ["alpha/send_mail"]},
        {"id": "c", "query": "up", "gold": ["beta/add_numbers"]},
    ]
    worse = {"tool": "beta/add_numbers", "expanded": "Send a mail.", "questions": []}
    variants.add(catalog_id, json.dumps(worse).encode(), "worse.jsonl")
    add_queries(work, catalog_id, rows)
    variants.accept_measured(catalog_id, "ann")
    assert set(variants.accepted(catalog_id)) == {"alpha/send_mail", "beta/get_weather"}
    with pytest.raises(DecisionError, match="each of those loses some"):
        variants.accept_measured(catalog_id, "ann")
