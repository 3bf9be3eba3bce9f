from ui.shared.tools.tool_selection import Selections


def test_only_tools_of_the_catalog_are_kept_and_another_process_knows_the_link(shared):
    work, catalog_id = shared
    kept = work.service(Selections).keep(catalog_id, ["alpha/send_mail", "gone"], "the map")
    assert kept.tool_ids == {"alpha/send_mail"}
    assert work.service(Selections).get(catalog_id, kept.key) is kept
    assert work.service(Selections).keep(catalog_id, ["gone"], "the map") is None
    other = Selections(work)
    assert other.get(catalog_id, kept.key) == kept
    assert other.get(catalog_id + 1, kept.key) is None
