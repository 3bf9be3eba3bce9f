from tests.ui.services.small_workspace import by_name
from toolscope_core.model.pair import tool_key
from ui.shared.services import review
from ui.shared.tools.tool_drawer import tool_view


def test_it_tells_the_decisions_on_it_and_on_no_other(shared):
    work, catalog_id = shared
    cluster = by_name(work, catalog_id, "get_weather")
    made = review.decide(work.snapshot(catalog_id), "accept", cluster, "ana")
    assert tool_view(work.snapshot(catalog_id), tool_key("beta/get_weather")).decisions == (made,)
    assert tool_view(work.snapshot(catalog_id), tool_key("beta/send_mail")).decisions == ()
    review.undo(
        work.snapshot(catalog_id), "ana", review.active_decisions(work.snapshot(catalog_id))[0].seq
    )
    assert tool_view(work.snapshot(catalog_id), tool_key("beta/get_weather")).decisions == ()
