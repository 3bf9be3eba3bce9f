from dataclasses import replace

import pytest

from tests.catalog.test_clients import MAILS, cluster
from tests.ui.services.small_workspace import FILES, SUM, catalog
from toolscope_core.catalog.calls import map_call, unmap_call
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.merging.former_names import NewNames, composed, with_tools
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, NestedRename

CITING = replace(SUM, description="Add up; use list_files first.")


def test_a_renamed_tool_is_renamed_in_phi_and_its_old_name_dangles():
    plan = apply_clusters(catalog(FILES, CITING), (), gateway=False)
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
    plan = apply_clusters(catalog(FILES, SUM), (), gateway=False)
    with pytest.raises((ValueError, KeyError)):
        with_tools(plan, {FILES.id: SUM})


def test_every_member_of_a_renamed_tool_and_no_other_gets_the_new_parameter_names():
    moves = (ArgumentMove("to", "to", "wrap"),)
    alphas = tuple(
        ArgumentMap(mail.id, MAILS[0].id, moves, {"body": {"in ner": 1}}) for mail in MAILS
    )
    merged = replace(cluster(MAILS, MAILS[0].id), arguments=alphas)
    plan = apply_clusters(catalog(*MAILS, FILES, SUM), [merged], gateway=False)
    inner = NestedRename("/text/in ner", "/text/inner")
    new = {
        MAILS[0].id: NewNames({"to": "people", "body": "text"}, [inner]),
        FILES.id: NewNames({"folder": "where"}),
    }
    renamed = with_tools(plan, {}, new)
    alphas = {alpha.tool_id: alpha for alpha in renamed.arguments}
    assert alphas.keys() == {*(mail.id for mail in MAILS), FILES.id}
    for mail in MAILS:
        assert alphas[mail.id].to == MAILS[0].id
        assert map_call(alphas[mail.id], {"to": "x"}).arguments == {
            "people": ["x"],
            "text": {"inner": 1},
        }
    assert map_call(alphas[FILES.id], {"folder": "/"}).arguments == {"where": "/"}
    assert renamed.relabels == plan.relabels


def test_new_names_compose_over_rounds():
    first = NewNames({"a b": "a_b"}, [NestedRename("/a_b/c d", "/a_b/c_d")])
    second = NewNames({"a_b": "ab/"}, [NestedRename("/ab~1/c_d", "/ab~1/cd")])
    identity = ArgumentMap("t", "t", (ArgumentMove("a b", "a b"),))
    alpha = composed(composed(identity, first), second)
    call = {"a b": {"c d": 1}}
    assert map_call(alpha, call).arguments == {"ab/": {"cd": 1}}
    assert unmap_call(alpha, {"ab/": {"cd": 1}}, {}).arguments == call


def test_a_parameter_that_only_an_alternative_declares_moves_too():
    alpha = composed(ArgumentMap("t", "t"), NewNames({"a b": "a_b"}))
    assert map_call(alpha, {"a b": 1, "c": 2}).arguments == {"a_b": 1, "c": 2}
