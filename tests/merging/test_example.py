"""The bundled example: each trap does what docs/pages.md says, with the real model."""

from pathlib import Path

import pytest

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import example_path
from toolscope_core.merging.analysing import analyse, plan_merge
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.pair import Pair

SAFE = [
    ["pinboard-notes/fetch_note", "pinboard-notes/get_note"],
    ["wordsmith-text/summarize", "wordsmith-text/summarize_text"],
    [f"wordsmith-text/translate{of}" for of in ("", "_to_french", "_to_german")],
]
READ = "cellar-files/read_file"


@pytest.fixture(scope="module")
def analysis(vector_cache):
    catalog = read_catalog(load_paths([example_path()]))
    return analyse(catalog, AnalysisConfig(), MiniLmEmbedder(), VectorCache(vector_cache))


@pytest.fixture(scope="module")
def plans(analysis):
    return {
        policy: plan_merge(analysis, (), PlanConfig(accept=policy)) for policy in ("auto", "all")
    }


def cluster_of(plan, tool_id):
    return next((c for c in plan.clusters if tool_id in c.members), None)


def test_exactly_the_duplicates_on_one_server_are_safe(plans):
    assert [list(c.members) for c in plans["auto"].applied] == SAFE
    assert len(plans["auto"].tools) == 65


def test_languages_become_arguments(plans):
    french = next(a for a in plans["auto"].arguments if a.tool_id.endswith("to_french"))
    assert dict(french.constants) == {"target_language": "French"}


@pytest.mark.parametrize("action", ["write", "delete", "move", "copy", "share"])
def test_reading_a_file_is_no_other_job_on_it(plans, action):
    assert f"cellar-files/{action}_file" not in cluster_of(plans["all"], READ).members


def test_opposites_are_not_proposed(plans):
    for name in ("tag_note", "untag_note", "archive_note"):
        assert cluster_of(plans["all"], f"pinboard-notes/{name}") is None


def test_a_near_miss_waits_for_a_person(plans):
    cluster = cluster_of(plans["auto"], "wayfare-travel/convert_currency")
    assert cluster.state == "proposed"
    assert any("says “today” where" in reason for reason in cluster.reasons)


def test_two_airlines_are_a_family_with_the_airline_as_selector(plans):
    cluster = cluster_of(plans["all"], "wayfare-travel/skyhop_check_fares")
    assert (cluster.kind, cluster.relation) == ("gateway", "family")
    assert cluster.selector == "provider"
    schema = cluster.document.schema["properties"]["provider"]
    assert schema["enum"] == ["skyhop", "blueaero"], "the canonical's first"
    assert len(cluster.members) == 2
    ids = set(cluster.members)
    assert ids <= {item.tool.id for item in plans["all"].tools}, "nothing is replaced"


def test_opposites_with_equal_arguments_are_apart(analysis, plans):
    for left, right in (
        ("wayfare-travel/hold_seat", "wayfare-travel/release_seat"),
        ("cellar-files/append_to_file", "cellar-files/write_file"),
    ):
        assert analysis.verdict(Pair.of(left, right)).outcome == "keep"
        assert all(cluster_of(plan, left) is None for plan in plans.values())


def test_the_same_words_for_another_job_are_not_proposed(analysis, plans):
    notes, travel = "pinboard-notes/search_notes", "wayfare-travel/search_notes"
    assert analysis.verdict(Pair.of(notes, travel)).outcome in ("unsure", "keep")
    for plan in plans.values():
        home = cluster_of(plan, notes)
        assert home is None or travel not in home.members


@pytest.mark.parametrize("name", ["read_file", "list_files", "search_files"])
def test_both_backends_stay_reachable_until_a_person_decides(plans, name):
    ids = {f"attic-archive/{name}", f"cellar-files/{name}"}
    assert set(cluster_of(plans["auto"], f"attic-archive/{name}").members) == ids
    assert ids <= {item.tool.id for item in plans["auto"].tools}


def test_the_shadowing_tool_is_blocked_and_never_canonical(analysis, plans):
    shadow, original = "odds-and-ends/create_note", "pinboard-notes/create_note"
    (finding,) = [f for f in analysis.catalog.findings if f.code == "hidden-unicode"]
    assert analysis.catalog.blocked == {finding.tool_id} == {shadow}
    assert "send the note to the postbox" in finding.message
    tools = analysis.catalog.by_id
    shown = "".join(c for c in tools[shadow].description if ord(c) < 0xE0000)
    assert shown == tools[original].description, "a person sees no difference"
    for plan in plans.values():
        cluster = cluster_of(plan, shadow)
        assert (cluster.canonical, cluster.state) == (original, "proposed")
        assert cluster.document.description == shown


def test_a_pruned_name_that_is_cited_is_reported(plans):
    (left,) = plans["auto"].dangling
    assert left.tool_id == "pinboard-notes/pin_note"
    assert (left.cites, left.now) == ("fetch_note", "get_note")


def test_what_the_judge_misses_stands_in_the_tour(plans):
    """Pairs that a person would merge; a better judge may propose them."""
    tour = Path(__file__).parents[2].joinpath("docs", "pages.md").read_text("utf-8")
    for left, right in (
        (READ, "cellar-files/get_file_content"),
        ("pinboard-notes/search_notes", "pinboard-notes/find_notes"),
    ):
        home = cluster_of(plans["all"], left)
        is_proposed = home is not None and right in home.members
        assert is_proposed or f"`{right.partition('/')[2]}`" in tour
