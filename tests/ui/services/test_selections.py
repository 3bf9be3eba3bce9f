from ui.shared.services.workspace import Workspace
from ui.shared.tools import tool_selection


def test_only_tools_of_the_catalog_are_kept_and_another_process_knows_the_link(shared):
    work, catalog_id = shared
    kept = tool_selection.keep(work.snapshot(catalog_id), ["alpha/send_mail", "gone"], "the map")
    assert kept.tool_ids == {"alpha/send_mail"}
    assert tool_selection.get(work.snapshot(catalog_id), kept.key) == kept
    assert tool_selection.keep(work.snapshot(catalog_id), ["gone"], "the map") is None
    other = Workspace(work.settings, work.embedder)
    now = other.snapshot(catalog_id)
    assert tool_selection.get(now, kept.key) == kept
    other.close()
