from dataclasses import replace

import pytest

from tests.workspace.desk import FILES, SUM, catalog
from toolscope_core.merging.plan import apply_clusters
from toolscope_core.merging.renaming import with_tools

CITING = replace(SUM, description="Add up; use list_files first.")


def test_a_renamed_tool_is_renamed_in_phi_and_its_old_name_dangles():
    plan = apply_clusters(catalog(FILES, CITING), (), routers=False)
    renamed = with_tools(plan, {FILES.id: replace(FILES, name="folder_list")})
    rows = {row.old_id: (row.old_name, row.new_name, row.status) for row in renamed.relabels}
    assert rows == {
        FILES.id: ("list_files", "folder_list", "renamed"),
        CITING.id: ("add_numbers", "add_numbers", "kept"),
    }
    assert [(d.tool_id, d.cites, d.now) for d in renamed.dangling] == [
        (CITING.id, "list_files", "folder_list")
    ]
    assert with_tools(renamed, {FILES.id: FILES}) == plan
    assert with_tools(plan, {}) == plan


def test_a_tool_of_another_id_is_a_bug():
    plan = apply_clusters(catalog(FILES, SUM), (), routers=False)
    with pytest.raises((ValueError, KeyError)):
        with_tools(plan, {FILES.id: SUM})
