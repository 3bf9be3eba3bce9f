"""In which order proposals come."""

from dataclasses import replace

import pytest

from tests.ui.services.conftest import shared  # noqa: F401
from tests.ui.services.small_workspace import by_name
from ui.shared.cards.queue import in_queue_order


@pytest.fixture(scope="module")
def clusters(shared):  # noqa: F811
    work, catalog_id = shared
    names = ("send_mail", "get_weather", "list_files")
    mail, weather, files = (by_name(work, catalog_id, name) for name in names)
    return {
        "mail": replace(mail, weakest_edge=0.55),
        "weather": replace(weather, weakest_edge=0.99),
        "files": replace(files, weakest_edge=0.2, relation="family"),
    }


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("tokens", "weather mail files"),
        ("surest", "weather mail files"),
        ("uncertain", "mail files weather"),
        ("families", "files mail weather"),
        ("disagreement", "weather mail files"),
        ("learned", "mail weather files"),
    ],
)
def test_orders(clusters, by, expected):
    own = clusters
    saved = {own["weather"].id: 90, own["mail"].id: 50}
    gaps = {own["weather"].members[0]: 0.7}
    learned = {own["mail"].id: 0.8, own["weather"].id: 0.3, own["files"].id: 0.9}
    found = in_queue_order(own.values(), by, saved, gaps, learned)
    names = {one.id: name for name, one in own.items()}
    assert [names[one.id] for one in found] == expected.split()


@pytest.mark.parametrize("by", ["risk", "surest", "audit"])
@pytest.mark.parametrize("state", ["proposed", "conflict"])
def test_what_adds_tokens_comes_last_unless_it_is_in_conflict(clusters, by, state):
    mail, weather = (replace(clusters[name], state=state) for name in ("mail", "weather"))
    plain = [one.id for one in in_queue_order([mail, weather], by, {}, {}, {})]
    adding = [one.id for one in in_queue_order([mail, weather], by, {plain[0]: -7}, {}, {})]
    moves = by != "audit" and state == "proposed"
    assert adding == (plain[::-1] if moves else plain)
