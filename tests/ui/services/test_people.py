"""Several people: a share each that stays theirs, second looks without what was said, κ."""

from collections import Counter
from dataclasses import replace

import pytest

from toolscope_core.evaluation.intervals import cohens_kappa
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Tool
from ui.history.people_panel import agreement, disagreements, to_look_at
from ui.shared.cards.queue import Filters, matching
from ui.shared.services import review
from ui.shared.services.review import Shares, shared_out

TOOLS = {
    f"s{at % 7}/t{at}": Tool(f"s{at % 7}/t{at}", f"t{at}", "words", f"s{at % 7}")
    for at in range(600)
}
DOCUMENT = Document("name", "words", None)


def cluster(at):
    ids = tuple(sorted(list(TOOLS)[2 * at : 2 * at + 2]))
    return Cluster(f"c{at}", ids, ids[0], "drop_in", "proposed", 0.9, DOCUMENT, ())


CLUSTERS = [cluster(at) for at in range(300)]


def test_everything_has_one_owner_shares_are_fair_and_stay_when_people_and_clusters_come():
    two = shared_out(CLUSTERS, TOOLS, Shares(("ann", "bob"), "random"))
    assert set(two) == {one.id for one in CLUSTERS}
    assert all(110 <= count <= 190 for count in Counter(two.values()).values())
    three = shared_out(CLUSTERS, TOOLS, Shares(("ann", "bob", "zoe"), "random"))
    moved = {one for one in two if two[one] != three[one]}
    assert {three[one] for one in moved} == {"zoe"}, "whoever comes takes, nobody else swaps"
    assert shared_out(CLUSTERS[:9], TOOLS, Shares(("bob", "ann"), "random")).items() <= two.items()


def test_by_server_a_server_is_one_persons():
    owners = shared_out(CLUSTERS, TOOLS, Shares(("ann", "bob"), "server"))
    review = {}
    for one in CLUSTERS:
        review.setdefault(TOOLS[one.canonical].server, set()).add(owners[one.id])
    assert all(len(own) == 1 for own in review.values())
    assert set().union(*review.values()) == {"ann", "bob"}
    own = frozenset(one for one, person in owners.items() if person == "ann")
    listed = matching(CLUSTERS, TOOLS, Filters(clusters=own))
    assert {one.id for one in listed} == own


def test_one_person_is_none_to_divide_among(work, catalog_id):
    with pytest.raises(DecisionError, match="two people"):
        review.divide(work.snapshot(catalog_id), Shares(("ann", "ann"), "random"))


SEEN = {name: Tool(name, name, "words") for name in ("u", *(f"t{seq}" for seq in range(10)))}


def said(seq, action, reviewer, **detail):
    ids = (f"t{seq}", "u")
    members = tuple(SEEN[one].fingerprint for one in ids)
    return Decision(action, members, ids, reviewer, f"at {seq}", seq, detail)


def look(seq, audited, right, reviewer="bob"):
    detail = {"note": "Second look", "audited": audited, "right": right, "blind": True}
    return Decision("flag", ("f", "g"), ("t", "u"), reviewer, "", seq, detail)


def test_second_looks_are_at_what_others_said_and_the_last_look_counts():
    log = (
        said(1, "accept", "ann"),
        said(2, "keep_apart", "ann"),
        said(3, "accept", "bob"),
        said(4, "accept", "ann", relation="family"),
        said(5, "edit", "ann"),
    )
    assert {one.seq for one in to_look_at(log, SEEN, "bob", 10)} == {1, 2}
    assert {one.seq for one in to_look_at(log, SEEN, "ann", 10)} == {3}
    assert len(to_look_at(log, SEEN, "bob", 1)) == 1
    others = {**SEEN, "t1": replace(SEEN["t1"], description="new words")}
    assert {one.seq for one in to_look_at(log, others, "bob", 10)} == {2}, "t1 is another tool now"
    del others["t1"]
    assert {one.seq for one in to_look_at(log, others, "bob", 10)} == {2}
    looked = (*log, look(6, 1, True), look(7, 2, True), look(8, 2, False))
    assert to_look_at(looked, SEEN, "bob", 10) == ()
    assert agreement(looked).looks == 2 and agreement(looked).same == 1
    ((decision, seen),) = disagreements(looked)
    assert (decision.seq, seen.seq) == (2, 8)
    undone = (*looked, Decision("undo", (), (), "ann", "", 9, {"retracts": 2}))
    assert disagreements(undone) == () and agreement(undone).looks == 1


def test_kappa_is_that_of_the_textbook_and_says_where_there_is_none():
    first = [True] * 20 + [True] * 5 + [False] * 10 + [False] * 15
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohens_kappa(first, second) == pytest.approx(0.4)
    assert cohens_kappa([], []) is None and cohens_kappa([True], [True]) is None
