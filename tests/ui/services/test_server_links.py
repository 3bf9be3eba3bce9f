from dataclasses import replace

from ui.graph import server_network_panel
from ui.graph.server_network_panel import link_columns, server_overlap
from ui.shared import data_tables
from ui.shared.tools.tool_blocks import blocks_of


def test_a_line_counts_the_jobs_that_both_servers_do(shared):
    work, catalog_id = shared
    view = server_network_panel.shared_jobs(work.snapshot(catalog_id))
    assert (view.grouping, view.tools) == ("servers", {"alpha": 4, "beta": 3, "gamma": 1})
    counts = {link.servers: dict(link.counts) for link in view.links}
    assert counts == {
        ("alpha", "beta"): {"gateway": 2},
        ("alpha", "gamma"): {"gateway": 1},
        ("beta", "gamma"): {"gateway": 1},
    }
    assert view.inside == {"alpha": 1}, "two copies of list_files"
    assert data_tables.records(view.links, link_columns(view.links))[0] == {
        "server A": "alpha", "server B": "beta", "jobs": 2, "gateway tool": 2,
    }  # fmt: skip
    edges = server_network_panel.server_drawing(view).edges
    assert [edge["label"] for edge in edges] == ["2", "1", "1"]


def test_only_what_does_one_job_is_a_line(shared):
    work, catalog_id = shared
    plan = work.snapshot(catalog_id).plan
    blocks = blocks_of(plan, "servers")
    mail = next(one for one in plan.clusters if len(one.members) == 3)

    def links(**changes):
        changed = replace(mail, **changes)
        return server_overlap(replace(plan, clusters=(changed,)), blocks).links

    assert [link.servers for link in links()] == [
        ("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma"),
    ]  # fmt: skip
    assert links(kind="drop_in", copies=True)[0].in_words == "exact copy: 1"
    two_of_alpha = ("alpha/send_mail", "alpha/list_files", "beta/send_mail")
    assert [link.jobs for link in links(members=two_of_alpha)] == [1], "one job, two pairs"
    for rejected in ({"state": "kept_apart"}, {"relation": "family"}, {"kind": "looks_alike"}):
        assert links(**rejected) == ()
