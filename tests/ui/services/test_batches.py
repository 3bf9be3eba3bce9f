"""Many proposals at once: what a bar takes, the batches of a log, the audit of one."""

from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import by_name
from toolscope_core.evaluation.intervals import share_interval
from toolscope_core.model.decision import Decision
from ui.shared.cards.batches import audit_of, batches, sample_size, select_batch
from ui.shared.cards.queue import REASON_KINDS, reason_kind


@pytest.fixture
def clusters(work, catalog_id):
    return [
        replace(by_name(work, catalog_id, name), weakest_edge=edge, reasons=reasons)
        for name, edge, reasons in (
            ("send_mail", 0.95, ()),
            ("get_weather", 0.95, ("the tools are on 2 servers: …",)),
            ("list_files", 0.6, ("its weakest pair is at 0.60, below 0.95",)),
        )
    ]


def test_each_cluster_is_taken_or_left_out_once_with_a_reason(clusters):
    rows = select_batch(clusters, 0.9, ["Several servers", "Weak pair or chain"])
    assert [one.document.name for one in rows.clusters] == ["send_mail"]
    assert dict(rows.left_out) == {"weaker than 0.90": 1, "Several servers": 1}
    assert len(select_batch(clusters, 0.5, []).clusters) == 3
    assert select_batch([replace(clusters[0], state="stale")], 0.0, []).clusters == ()


def decision(seq, batch="b", action="accept", **detail):
    return Decision(
        action, (f"f{seq}", f"g{seq}"), (f"a{seq}", f"b{seq}"), "ann", "2026-01-01T00:00:00+00:00",
        seq, {**({"batch": batch} if batch else {}), **detail},
    )  # fmt: skip


def test_the_sample_of_a_batch_is_random_and_always_the_same_and_counts_the_last_answers():
    rows = [decision(seq) for seq in range(1, 41)]
    (batch,) = batches(rows)
    sample = audit_of(batch, 10, []).sample
    assert sample == audit_of(batches(rows[::-1])[0], 10, []).sample
    assert [one.seq for one in sample] != sorted(one.seq for one in sample)
    answers = [
        decision(50, "", "flag", note="wrong", audited=sample[0].seq, right=False),
        decision(51, "", "flag", note="right", audited=sample[0].seq, right=True),
        decision(52, "", "flag", note="of another batch", audited=99, right=False),
    ]
    audit = audit_of(batch, 10, answers)
    assert audit.answers == {sample[0].seq: True} and audit.wrong == 0


def test_a_sample_is_as_large_as_its_interval_asks_for_and_never_larger_than_the_batch():
    assert sample_size(10, 0.1) <= 10
    sizes = [sample_size(200, width) for width in (0.05, 0.1, 0.15)]
    assert sizes == sorted(sizes, reverse=True)
    right = round(0.9 * sample_size(100_000, 0.1))
    wrong = sample_size(100_000, 0.1) - right
    _, low, high = share_interval([True] * right + [False] * wrong)
    assert 0.08 < (high - low) / 2 < 0.12


def test_every_kind_of_reason_has_its_sentence():
    outside = "some of these tools resemble tools outside this proposal too"
    assert reason_kind(outside) in REASON_KINDS
    assert reason_kind("they differ in effect: …") == "Different effect"
    returns = "they return different things: …"
    assert reason_kind(returns) == "Different result"
    assert reason_kind("only `a` says “weekly”") == "Wording or arguments"
