"""Many servers side by side: one that fails spoils no other, and all are ended."""

import os
from dataclasses import replace

import pytest

from tests.mcp.servers.stubs import MARK, QUICK, TOKEN, configuration, entry, living, new_mark
from toolscope_core.mcp.servers.offers import read_offers
from toolscope_core.model.errors import JobError


def test_a_server_that_fails_is_a_row_among_the_others():
    config = configuration(
        good=entry("good"),
        bad=entry("exits"),
        unset={**entry("good"), "env": {"A": "${NOT_SET_ANYWHERE}"}},
        slow=entry("slow", 0.1),
    )
    steps = []
    offers = read_offers(config.servers, config, os.environ, QUICK, steps.append)
    assert [offer.name for offer in offers] == ["good", "bad", "unset", "slow"]
    assert [len(offer.tools) for offer in offers] == [2, 0, 0, 2]
    assert [offer.kind for offer in offers] == ["", "exit", "settings", ""]
    assert "NOT_SET_ANYWHERE" in offers[2].failure
    assert TOKEN not in repr(offers)
    assert (steps[0].stage, steps[0].done, steps[0].total) == ("servers", 0, 4)
    assert (steps[-1].done, steps[-1].total) == (4, 4)


def test_no_more_than_allowed_run_at_a_time(monkeypatch):
    monkeypatch.setattr("toolscope_core.mcp.servers.offers.LOOK_SECONDS", 0.02)
    mark, counts = new_mark(), []
    config = configuration(**{f"s{n}": entry("slow", 0.1, **{MARK: mark}) for n in range(3)})

    def count(step):
        counts.append(len(living(mark)))

    offers = read_offers(config.servers, config, os.environ, replace(QUICK, parallel=1), count)
    assert [len(offer.tools) for offer in offers] == [2] * 3
    assert max(counts) == 1


def test_a_reading_that_is_stopped_leaves_no_server_behind():
    mark = new_mark()
    config = configuration(**{f"s{n}": entry("mute", **{MARK: mark}) for n in range(3)})

    def stop(step):
        if len(living(mark)) == 3:
            raise JobError("stopped")

    with pytest.raises(JobError, match="stopped"):
        read_offers(config.servers, config, os.environ, QUICK, stop)
    assert living(mark) == []
