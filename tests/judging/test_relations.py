"""What the offline judge says that two tools are to each other: one story in all its fields."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judging.test_judge import RATE, TOOLS, embed, tool
from tests.merging.strategies import tools as merging_tools
from toolscope_core.judging.arguments.alignment import serving
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.relation_words import relation_of
from toolscope_core.judging.weights import shipped_weights
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}


def prepared(*tools):
    return OfflineJudge.of(tools, embed(tools))


def verdict(one, other):
    return prepared(one, other).verdict(0, 1)


def takes(called, description, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(called, called, description, schema=schema)


FAMILY = (
    tool("area_of_circle", "area_of_circle", "Compute the area.", "size"),
    tool("area_of_square", "area_of_square", "Compute the area.", "size"),
    tool("translate_to_french", "translate_to_french", "Translate a text.", "text"),
    tool("translate_to_german", "translate_to_german", "Translate a text.", "text"),
)


@st.composite
def catalogs(draw):
    random = [draw(merging_tools(f"r{at}")) for at in range(draw(st.integers(0, 3)))]
    tools = draw(st.permutations([*TOOLS, *FAMILY, *random]))[:9]
    servers = draw(st.lists(st.sampled_from(["", "x", "y"]), min_size=9, max_size=9))
    return [replace(one, id=f"t{at}", server=servers[at]) for at, one in enumerate(tools)]


@given(catalogs())
def test_relation_outcome_and_probabilities_tell_one_story(tools):
    judge, weights = prepared(*tools), shipped_weights()
    for left, right in combinations(range(len(tools)), 2):
        judgement = judge.verdict(left, right)
        same_job = judgement.relation in ("duplicate", "subsumes")
        assert (judgement.outcome == "merge") == (
            same_job and judgement.same_job >= weights.merge_at
        )
        assert (judgement.outcome == "merge") == (judgement.same_job >= weights.merge_at)
        assert (judgement.outcome == "family") == (judgement.relation == "family")
        assert (judgement.outcome == "family") == (judgement.family >= weights.family_at)
        assert judgement.outcome == weights.outcome(judgement.same_job, judgement.family)
        assert judgement.serves == "none" or same_job
        assert judgement.relation != "subsumes" or judgement.serves != "both"
        two = tools[left], tools[right]
        if same_job:
            by_schemas = serving(*two, match_parameters(*two))
            unsure = judgement.outcome == "unsure"  # by what tells them apart, whatever they say
            assert judgement.serves in (by_schemas, "none" if unsure else by_schemas)
        assert judgement.differs == judge.signals.compare(left, right).unshared


@given(catalogs())
def test_a_verdict_does_not_depend_on_the_order_of_the_pair_or_of_the_catalog(tools):
    judge = prepared(*tools)
    back = list(reversed(range(len(tools))))
    verdicts = judge.verdicts(np.array(back[:-1]), np.array(back[1:]))
    assert verdicts == judge.verdicts(np.array(back[1:]), np.array(back[:-1]))


def test_exact_copies_are_duplicates_that_serve_each_other():
    one = TOOLS[0]
    judgement = verdict(one, replace(one, id="z", server="elsewhere"))
    assert (judgement.relation, judgement.serves) == ("duplicate", "both")
    assert judgement.same_job == 1.0
    assert judgement.differs == ((), ())
    assert judgement.family < shipped_weights().family_at


def test_two_tools_that_declare_nothing_are_judged_on_words():
    one, other = (
        replace(TOOLS[0], id=name, schema=None, server=name, description=text)
        for name, text in (("a", TOOLS[0].description), ("z", TOOLS[0].description + " Today."))
    )
    half = verdict(replace(one, schema=TOOLS[0].schema), other)
    assert verdict(one, other).same_job > half.same_job
    assert half.same_job < shipped_weights().merge_at, "one that declares its own is held back"


SOURCE = {"source": TEXT}
SERVING = {
    "both": (SOURCE, SOURCE, "duplicate"),
    "left": ({**SOURCE, "day": TEXT}, SOURCE, "subsumes"),
    "right": (SOURCE, {**SOURCE, "day": TEXT}, "subsumes"),
    "none": ({**SOURCE, "day": TEXT}, {**SOURCE, "colour": {"type": "boolean"}}, "duplicate"),
}


@pytest.mark.parametrize(("serves", "case"), SERVING.items(), ids=SERVING)
def test_who_serves_whom_is_read_off_the_schemas(serves, case):
    ours, theirs, relation = case
    one = takes("get_exchange_rate", RATE, ["source"], **ours)
    other = takes("fetch_exchange_rate", RATE.replace("Get", "Fetch"), ["source"], **theirs)
    judgement = verdict(one, replace(other, id="z"))
    assert judgement.outcome == "merge"
    assert (judgement.serves, judgement.relation) == (serves, relation)
    back = verdict(replace(other, id="a"), replace(one, id="z"))
    assert back.serves == {"left": "right", "right": "left"}.get(serves, serves)


def test_what_is_neither_is_related_or_different():
    relations = {
        prepared(*TOOLS).verdict(left, right).relation
        for left, right in combinations(range(len(TOOLS)), 2)
    }
    assert {"related", "different"} <= relations
    far = verdict(TOOLS[3], TOOLS[8])
    assert (far.relation, far.outcome, far.serves) == ("different", "keep", "none")


@pytest.mark.parametrize(
    ("relation", "outcome", "probability", "sentence"),
    [
        ("duplicate", "merge", 0.95, "They do the same job."),
        ("duplicate", "merge", 0.94, "They look like the same job."),
        ("duplicate", "unsure", 0.6, "They may do the same job."),
        (
            "related",
            "unsure",
            0.4,
            "They look alike; a person must decide whether they do the same job.",
        ),
        ("related", "keep", 0.1, "They are related, but do different jobs."),
    ],
)
def test_the_sentence_is_as_sure_as_the_verdict(relation, outcome, probability, sentence):
    given = replace(
        verdict(TOOLS[0], TOOLS[1]), relation=relation, outcome=outcome, same_job=probability
    )
    assert relation_of(given, (TOOLS[0], TOOLS[1])) == sentence
