from dataclasses import replace

from toolscope_core.model.pair import Pair
from ui.graph import server_network_panel
from ui.graph.server_network_panel import link_columns, server_overlap
from ui.shared import data_tables
from ui.shared.tools.tool_blocks import blocks_of


def test_pairs_of_tools_are_counted_by_kind_between_servers_and_within(shared):
    work, catalog_id = shared
    view = server_network_panel.shared_pairs(work.snapshot(catalog_id))
    assert (view.grouping, view.tools) == ("servers", {"alpha": 4, "beta": 3, "gamma": 1})
    counts = {link.servers: dict(link.counts) for link in view.links}
    assert counts == {
        ("alpha", "beta"): {"gateway": 2},
        ("alpha", "gamma"): {"gateway": 1},
        ("beta", "gamma"): {"gateway": 1},
    }
    assert view.inside == {"alpha": 1}, "two copies of list_files"
    assert data_tables.records(view.links, link_columns(view.links))[0] == {
        "server A": "alpha", "server B": "beta", "pairs": 2, "gateway tool": 2,
    }  # fmt: skip


def test_a_cluster_counts_for_what_can_be_done_about_it_and_a_doubt_looks_alike(
    monkeypatch, shared
):
    work, catalog_id = shared
    analysis, plan = work.snapshot(catalog_id).analysed, work.snapshot(catalog_id).plan
    analysis = replace(analysis, copies={tool: tool for tool in analysis.rows})
    mail = next(one for one in plan.clusters if len(one.members) == 3)
    plan = replace(plan, clusters=(replace(mail, kind="gateway"),))
    view = server_overlap(analysis, plan, blocks_of(plan, "servers"))
    assert {link.kind for link in view.links} == {"gateway"}
    assert view.links[0].in_words == "gateway tool: 1"
    rejected = replace(plan, clusters=(replace(mail, state="kept_apart"),))
    assert server_overlap(analysis, rejected, blocks_of(plan, "servers")).links == ()
    pairs = {Pair.of("alpha/send_mail", "beta/send_mail"): 0.5}
    pairs[Pair.of("alpha/list_files", "alpha/send_mail")] = 0.5
    monkeypatch.setattr(server_network_panel, "unsure_pairs", lambda _: pairs)
    doubts = server_overlap(analysis, rejected, blocks_of(plan, "servers"))
    (link,) = doubts.links
    assert (link.servers, dict(link.counts)) == (("alpha", "beta"), {"looks_alike": 1})
    assert doubts.inside == {"alpha": 1}
    both = server_overlap(analysis, plan, blocks_of(plan, "servers"))
    assert both.links == view.links, "what a cluster holds is counted once"
