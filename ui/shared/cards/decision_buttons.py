"""What the buttons on the Review and Documents pages do, and the notices that they leave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from toolscope_core.decisions.forms import ACTIONS
from toolscope_core.merging.analysing import lost_text
from toolscope_core.model.cluster import Cluster, kind_name
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError, StoreError
from toolscope_core.model.numbers import enumerated, listed, quantity
from ui.shared import page_frame, safe_text
from ui.shared.cards import batches, queue, shortcuts
from ui.shared.services import review, server_advice, toolsets
from ui.shared.snapshot import Snapshot

if TYPE_CHECKING:
    from toolscope_core.merging.coverage import Coverage

LONGEST_NOTICE = 400
PROPOSES = "Adds a proposal to the review queue. Nothing is merged until it is accepted."


def attempt(work: Callable[[], object], message: str) -> bool:
    """Do ``work``; returns whether it succeeded. The notice is ``message`` or, if it failed, the
    reason.

    An earlier batch can then no longer be undone as a whole, because the button for that would be
    under this notice.
    """
    st.session_state.pop("batch", None)
    try:
        work()
    except (DecisionError, StoreError) as error:
        st.session_state["notice"] = (False, str(error))
        return False
    st.session_state["notice"] = (True, message)
    return True


def record(
    work: Callable[[], Any],
    message: str,
    then: Callable[[], object] | None = None,
    as_batch: bool = False,
) -> None:
    """Run ``attempt`` as the callback of a button. If it succeeds, ``then`` is called.

    With ``as_batch``, the notice offers to undo the decisions that ``work`` returns.
    """
    results: list[Any] = []
    if attempt(lambda: results.append(work()), message):
        if as_batch:
            st.session_state["batch"] = tuple(decision.seq for decision in results[0])
        if then is not None:
            then()


def record_button(
    label: str,
    work: Callable[[], Any],
    message: str,
    then: Callable[[], object] | None = None,
    as_batch: bool = False,
    **look: Any,
) -> None:
    """Draw a button that does ``work`` through ``record``. ``look`` is passed to ``st.button``."""
    st.button(label, on_click=record, args=(work, message, then, as_batch), **look)


def set_button(
    snapshot: Snapshot,
    action: Literal["propose", "keep_apart"],
    ids: Sequence[str],
    version: str,
    label: str,
    names: str,
    **look: Any,
) -> None:
    """Draw a button that sends tools of a ``version`` to review as one, or keeps them apart.

    ``names`` is a text that names the tools. ``look`` is passed to ``record_button``.
    """
    record = toolsets.never_merge if action == "keep_apart" else toolsets.send_to_review
    record_button(
        label,
        lambda: [record(snapshot, ids, version, page_frame.reviewer())],
        f"{ACTIONS[action].label}: {names}",
        icon=":material/block:" if action == "keep_apart" else ":material/outbox:",
        **look,
    )


def decide(
    snapshot: Snapshot, cluster: Cluster, action: Action, onward: str | None, **detail: object
) -> None:
    """Record a decision on the shown cluster, then show the cluster ``onward``."""
    message = f"{ACTIONS[action].label}: {cluster.document.name}"
    if cluster.newcomers and action in ("accept", "keep_apart"):
        welcome = action == "accept"
        succeeded = attempt(
            lambda: review.answer_newcomers(snapshot, cluster, page_frame.reviewer(), welcome),
            message,
        )
    else:
        succeeded = attempt(
            lambda: review.decide(snapshot, action, cluster, page_frame.reviewer(), detail), message
        )
    if succeeded and onward:
        st.query_params["cluster"] = onward


def answer(
    snapshot: Snapshot, cluster: Cluster, name: str, onward: str, blind: bool = False
) -> None:
    """Accept what was shown, keep it apart, or accept it as a *family*.

    A ``blind`` *accept* says that the tools do the same job, whatever was proposed. The judge's
    opinion is shown afterwards.
    """
    if name == "family":
        decide(snapshot, cluster, "accept", onward, relation="family")
    elif name == "accept" and blind and queue.is_family(cluster) and not cluster.newcomers:
        decide(snapshot, cluster, "accept", onward, relation="duplicate")
    else:
        decide(snapshot, cluster, "accept" if name == "accept" else "keep_apart", onward)
    succeeded, text = st.session_state["notice"]
    if blind and succeeded:
        proposal = f"a {kind_name(cluster)}" if queue.is_family(cluster) else "the same job"
        note = f"the judge had proposed {proposal}, weakest pair {cluster.weakest_edge:.2f}"
        st.session_state["notice"] = True, f"{text}; {note}"


def take_apart(
    snapshot: Snapshot,
    cluster: Cluster,
    groups: Sequence[Sequence[str]],
    onward: str | None,
    order: list[str],
) -> None:
    """Divide a proposal into groups. What remains of it is shown next, in the same place."""
    ids = list[str]()
    text = f"{cluster.document.name}: {apart_in_words(groups)}"
    if attempt(
        lambda: ids.extend(review.recut(snapshot, cluster, page_frame.reviewer(), groups)), text
    ):
        stand_in(cluster, ids, order)
        if following := next(iter(ids), onward):
            st.query_params["cluster"] = following


def stand_in(cluster: Cluster, cluster_ids: Sequence[str], order: list[str]) -> None:
    """Put the clusters that replace a cluster (ids) into its place in the queue."""
    if cluster.id in order:
        at = order.index(cluster.id) + 1
        order[at:at] = [one for one in cluster_ids if one not in order]


def apart_in_words(groups: Sequence[Sequence[str]]) -> str:
    """The result of dividing a proposal, as one phrase."""
    singles = [group[0] for group in groups if len(group) == 1]
    rest = [quantity(len(group), "tool") for group in groups if len(group) > 1]
    parts = [f"{', '.join(singles)} kept out"] if singles else []
    parts += [f"{' and '.join(rest)} still to be decided"] if rest else []
    return "; ".join(parts)


def drop(
    snapshot: Snapshot, cluster: Cluster, member: str, onward: str | None, order: list[str]
) -> None:
    """Take one member out of the proposal. The others stay together."""
    remaining = [one for one in cluster.members if one != member]
    take_apart(snapshot, cluster, [remaining, [member]], onward, order)


def choose_canonical(snapshot: Snapshot, cluster: Cluster, choice_key: str) -> None:
    """Give the merged tool the name of the member that was chosen in the widget ``choice_key``."""
    name_after(snapshot, cluster, st.session_state[choice_key])


def make_drop_in(snapshot: Snapshot, cluster: Cluster, canonical: str) -> None:
    """Let one member replace the others, although they may store their own data."""
    decide(snapshot, cluster, "canonical", None, canonical=canonical, kind="drop_in")


def refuse_drop_in() -> None:
    """Show a notice that no member of a gateway proposal can replace the others."""
    why = "None of these tools can take every call to the others: accepting needs a gateway"
    st.session_state["notice"] = False, why


def name_after(snapshot: Snapshot, cluster: Cluster, member: str) -> None:
    """Give the merged tool the id and the name of this member."""
    decide(snapshot, cluster, "canonical", None, canonical=member)
    succeeded, text = st.session_state["notice"]
    st.session_state["notice"] = succeeded, f"{text}; it is {member}" if succeeded else text


def decide_all(snapshot: Snapshot, clusters: Sequence[Cluster], action: Action) -> None:
    """Accept these clusters, keep them apart, or leave them for review, as one batch."""
    _decide_each(
        snapshot,
        [(action, one, {}) for one in clusters],
        f"{ACTIONS[action].label}: {{}}",
        "cluster",
    )


def decide_pair(
    snapshot: Snapshot, servers: Sequence[str], clusters: Sequence[Cluster], action: Action
) -> None:
    """Accept these proposals between two servers, or keep them apart, as one batch that can be
    undone.
    """
    rows = [(action, cluster, dict[str, object]()) for cluster in clusters]
    _decide_each(snapshot, rows, f"{ACTIONS[action].label}: {{}} between {' and '.join(servers)}")


def keep_server(snapshot: Snapshot, pair: batches.ServerPairProposals, server: str) -> None:
    """Keep only this server's tools in every proposal between the two servers."""
    rows: list[tuple[Action, Cluster, dict[str, object]]] = [
        ("canonical", cluster, {"canonical": tool_id, "kind": "drop_in"})
        for cluster, tool_id in pair.to_keep(server)
    ]
    _decide_each(snapshot, rows, f"Tools of {server} are now kept in {{}}")


def switch_servers_off(snapshot: Snapshot, *servers: Coverage) -> None:
    """Remove all tools of these servers, as one batch that can be undone."""
    decisions = server_advice.switch_off(snapshot, servers, page_frame.reviewer())
    merges = quantity(sum(len(d.ids) - 1 for d in decisions if d.action == "accept"), "tool")
    omitted = sum(len(one.ids) for one in decisions if one.action == "omit")
    names, are = listed((one.server for one in servers), 3), "are" if servers[1:] else "is"
    others = enumerated(sorted({other for one in servers for other in one.others}))
    text = f"{names} {are} switched off: {merges} merged into {others}"
    _note_batch(f"{text}, {omitted} left out", decisions, ())


def answer_account(snapshot: Snapshot, one: str, other: str, choice_key: str) -> None:
    """Record the answer in the widget: whether two servers use the same account."""
    account = st.session_state[choice_key]
    attempt(
        lambda: server_advice.answer_account(snapshot, one, other, account, page_frame.reviewer()),
        f"{one} and {other}: {account or 'no answer'}",
    )


def _decide_each(
    snapshot: Snapshot,
    rows: list[tuple[Action, Cluster, dict[str, object]]],
    message: str,
    noun: str = "merge",
) -> None:
    decisions, refused = review.decide_each(snapshot, page_frame.reviewer(), rows)
    _note_batch(message.format(quantity(len(decisions), noun)), decisions, refused)


def _note_batch(
    message: str, decisions: Sequence[Decision], refused: Sequence[DecisionError]
) -> None:
    """Set the notice on a batch, and the button that undoes it."""
    if refused:
        message += f", {len(refused):,} refused: {refused[0]}"
    st.session_state["notice"] = (not refused, message)
    st.session_state.pop("batch", None)
    if decisions:
        st.session_state["batch"] = tuple(decision.seq for decision in decisions)


def safe_in_words(snapshot: Snapshot) -> str:
    """A text that says what accepting the safe merges will do, what is left to a
    person, and why.
    """
    safe, sizes = review.safe(snapshot), review.sizes(snapshot)
    left_out = "; ".join(f"{count} {doubt}" for doubt, count in safe.left_out)
    if not safe.clusters:
        return f"No merge is safe to accept without review: {left_out or 'none is waiting'}."
    tokens = -sum(sizes[one.id].added for one in safe.clusters)
    lost = sum(lost_text(one, snapshot.catalog.by_id)[1] for one in safe.clusters)
    documentation = (
        f" ({lost:,} of them in documentation that goes with the removed tools)" if lost else ""
    )
    return (
        f"Replaces {quantity(safe.tools, 'tool')} with {len(safe.clusters):,} and saves about "
        f"{quantity(tokens, 'token')} per prompt{documentation}. Left for review: "
        f"{left_out or 'nothing'}."
    )


def undo(
    snapshot: Snapshot,
    seqs: tuple[int, ...],
    back_to: Decision | None = None,
    parameter: str = "cluster",
) -> None:
    """Undo these decisions. Then show the cluster of ``back_to``; ``parameter`` names it in the
    address.
    """
    subject = f"{len(seqs):,} decisions are" if len(seqs) > 1 else f"Decision {seqs[0]} is"
    is_undone = attempt(
        lambda: review.undo_all(snapshot, page_frame.reviewer(), seqs), f"{subject} undone"
    )
    if is_undone and back_to and (cluster_id := review.about(snapshot, back_to)):
        st.query_params[parameter] = cluster_id


def undo_one(
    snapshot: Snapshot,
    decision: Decision,
    place: str,
    back_to: Decision | None = None,
    parameter: str = "cluster",
) -> None:
    """Draw a button that undoes this decision. ``place`` keeps the keys of several lists apart."""
    st.button(
        "Undo",
        key=f"{place}_{decision.seq}",
        on_click=undo,
        args=(snapshot, (decision.seq,), back_to, parameter),
    )


def undo_line(snapshot: Snapshot, text: str, decision: Decision, place: str) -> None:
    """Draw a decision in words (safe in markdown), and the button that undoes it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(text, width="content")
        undo_one(snapshot, decision, place)


def undo_own(snapshot: Snapshot, latest: int) -> None:
    """Undo the reviewer's latest decision together with its batch.

    ``latest`` was the latest one when the button was drawn. If the reviewer has decided since, that
    decision is undone instead. Once ``latest`` is undone, pressing the same button again does
    nothing.
    """
    decisions = review.active_decisions(snapshot.work.snapshot(snapshot.id))
    own = next((d for d in decisions if d.reviewer == page_frame.reviewer()), None)
    if own is not None and own.seq >= latest:
        undo(snapshot, together_with(own, decisions), own)


def notice(snapshot: Snapshot) -> None:
    """Draw the notice of the last button, once. A refusal is an error; a batch has a button to undo
    it.
    """
    succeeded, text = st.session_state.pop("notice", (True, ""))
    if len(text) > LONGEST_NOTICE:  # with long names, the bar of buttons would cover the page
        text = f"{text[: LONGEST_NOTICE // 2]} … {text[-LONGEST_NOTICE // 2 :]}"
    if not succeeded:
        st.error(safe_text.untrusted(text), icon=":material/error:")
    elif text:
        st.caption(f":green[:material/check:] {safe_text.untrusted(text)}", width="stretch")
    if batch := st.session_state.get("batch"):
        label = f"Undo the last {len(batch):,}" if len(batch) > 1 else "Undo"
        st.button(label, key=f"undo_batch_{batch[-1]}", on_click=undo, args=(snapshot, batch))


def together_with(one: Decision, decisions: Sequence[Decision]) -> tuple[int, ...]:
    """The seqs of a decision and of the other active decisions in its batch."""
    batch = one.detail.get("batch")
    if batch is None or one.action == "flag":
        return (one.seq,)
    own = (d for d in decisions if d.reviewer == one.reviewer and d.action != "flag")
    return tuple(d.seq for d in own if d.detail.get("batch") == batch)


def undo_button(snapshot: Snapshot, active: tuple[Decision, ...], by_key: bool = True) -> None:
    """Draw a button that undoes the reviewer's last decision. On pages with keys,
    U does the same.
    """
    own = next((one for one in active if one.reviewer == page_frame.reviewer()), None)
    number = len(together_with(own, active)) if own else 0
    st.button(
        f"Undo {number}" if number > 1 else "Undo",
        key=f"undo_{own.seq if own else 'nothing'}",
        shortcut=shortcuts.letter("undo") if by_key else None,
        disabled=own is None,
        on_click=undo_own,
        args=(snapshot, own.seq) if own else None,
    )


def take_back_button(snapshot: Snapshot, settled_cluster: review.SettledCluster | None) -> None:
    """Draw a button that undoes the decision on the shown cluster, if it has one."""
    if settled_cluster is None or settled_cluster.decision is None:
        return
    decision = settled_cluster.decision
    st.button(
        f"Undo it ({ACTIONS[decision.action].label.lower()} by {decision.reviewer})",
        key=f"take_back_{decision.seq}",
        type="primary",
        on_click=undo,
        args=(snapshot, (decision.seq,)),
    )
