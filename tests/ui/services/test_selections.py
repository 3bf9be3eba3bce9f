from ui.shared.tools.tool_selection import Selections


def test_only_tools_of_the_catalog_are_kept(shared):
    work, catalog_id = shared
    kept = work.service(Selections).keep(catalog_id, ["alpha/send_mail", "gone"], "the map")
    assert kept.tool_ids == {"alpha/send_mail"}
    assert work.service(Selections).get(catalog_id, kept.key) is kept
    assert work.service(Selections).keep(catalog_id, ["gone"], "the map") is None


def test_a_link_is_understood_by_another_process(shared):
    work, catalog_id = shared
    kept = work.service(Selections).keep(catalog_id, ["beta/send_mail"], "the table")
    other = Selections(work)
    assert other.get(catalog_id, kept.key) == kept
    assert other.get(catalog_id + 1, kept.key) is None
