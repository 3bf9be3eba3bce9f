"""A request against the toolset as it is and as the merge leaves it."""

import pytest

from tests.ui.services.small_workspace import accept_drop_in, add_queries
from ui.shared.services import loaded_queries, searches
from ui.shared.services.searches import Lookup

QUERIES = [
    {"id": "a", "query": "send a mail", "gold": [["beta/send_mail", "gamma/send_mail"]]},
    {
        "id": "b",
        "query": "weather, then a mail",
        "gold": ["beta/get_weather", "beta/add_numbers"],
        "steps": ["Tell the weather of a city", "Send a mail to a person"],
    },
]


@pytest.fixture(scope="module")
def small_workspace(shared):
    work, catalog_id = shared
    add_queries(work, catalog_id, QUERIES)
    accept_drop_in(work, catalog_id)
    return shared


def look(small_workspace, text, **asked):
    work, catalog_id = small_workspace
    return searches.look(work.snapshot(catalog_id), Lookup(text, accept="none", **asked))


def test_three_copies_take_three_places_before_and_one_after(small_workspace):
    view = look(small_workspace, "send a mail to a person", k=4)
    assert [place.name for place in view.before.places[:3]] == ["send_mail"] * 3
    first, second, *_ = view.after.places
    assert (first.name, first.stands_for, first.elsewhere) == ("send_mail", 3, 1)
    assert second.name != "send_mail"
    assert (second.rank, second.elsewhere) == (2, 4)
    assert [place.elsewhere for place in view.before.places] == [1, 1, 1, 2]
    assert (view.before.size, view.after.size) == (8, 6)
    assert view.after.tokens < view.before.tokens
    assert all(sum(p.parts) == pytest.approx(p.score) for p in view.before.places)


def test_of_a_query_that_a_set_has_the_answers_are_marked_on_both_sides(small_workspace):
    view = look(small_workspace, "send a mail", k=3)
    answers = {place.id for place in view.before.places if place.answers}
    assert answers == {"beta/send_mail", "gamma/send_mail"}
    assert view.before.served == view.after.served == 1
    (kept,) = view.after.needs[0].ids
    assert view.after.places[0].answers and view.after.places[0].id == kept
    assert any(tie.hides for tie in view.confusions)
    assert view.confusions[0].hides, "those that hide an answer come first"


def test_what_takes_long_is_built_by_a_job(opened, monkeypatch):
    work, catalog_id = opened
    monkeypatch.setattr(searches, "AT_ONCE", 0)
    asked = Lookup("send a mail", accept="none")
    assert searches.look(work.snapshot(catalog_id), asked) is None
    work.analyses.wait(searches.start(work.snapshot(catalog_id), asked))
    assert searches.look(work.snapshot(catalog_id), asked) is not None
    assert work.snapshot(catalog_id).job(searches.KIND).state == "done"


def test_the_example_comes_with_queries_that_its_tools_answer(small_workspace):
    work, _ = small_workspace
    record = work.add_example()
    (view,) = loaded_queries.sets(work.snapshot(record.id))
    loaded_queries.delete(work.snapshot(record.id), view.name)
    assert work.add_example() == record
    assert loaded_queries.sets(work.snapshot(record.id)) == (), (
        "an example that was there stays as it is"
    )
    assert view.unknown == () and view.content.problems == ()
    assert view.judged == len(view.content.queries) > 20
