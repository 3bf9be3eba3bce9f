import pytest

from tests.ui.services.small_workspace import by_name, catalog
from toolscope_core.model.address_keys import tool_key


def test_a_tool_is_known_by_a_hash_of_its_id(shared):
    work, catalog_id = shared
    view = work.tools.view(catalog_id, tool_key("beta/send_mail"))
    assert view.tool.id == "beta/send_mail"
    assert work.tools.view(catalog_id, "beta/send_mail") is None
    assert work.tools.view(catalog_id, tool_key("gone")) is None


def test_it_comes_with_its_neighbours_and_its_cluster(shared):
    work, catalog_id = shared
    view = work.tools.view(catalog_id, tool_key("beta/send_mail"))
    assert {near.id for near in view.neighbours[:2]} == {"alpha/send_mail", "gamma/send_mail"}
    assert [near.similarity for near in view.neighbours[:2]] == pytest.approx([1, 1])
    assert view.cluster == by_name(work, catalog_id, "send_mail")
    assert work.tools.view(catalog_id, tool_key("beta/add_numbers")).cluster is None


def test_it_tells_the_decisions_on_it_and_on_no_other(shared):
    work, catalog_id = shared
    cluster = by_name(work, catalog_id, "get_weather")
    made = work.review.decide(catalog_id, "accept", cluster, "ana")
    assert work.tools.view(catalog_id, tool_key("beta/get_weather")).decisions == (made,)
    assert work.tools.view(catalog_id, tool_key("beta/send_mail")).decisions == ()
    work.review.undo(catalog_id, "ana")
    assert work.tools.view(catalog_id, tool_key("beta/get_weather")).decisions == ()


def test_before_the_analysis_the_definition_is_there(shared):
    work, _ = shared
    record = work.catalogs.add("New", catalog())
    view = work.tools.view(record.id, tool_key("beta/send_mail"))
    assert view.tool.name == "send_mail"
    assert (view.neighbours, view.cluster) == ((), None)
