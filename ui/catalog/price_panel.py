"""The price tag: tools and tokens now and by each way to fewer, beside the limits of clients."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.formats.format_table import ADVISED
from toolscope_core.catalog.formats.target import Target
from toolscope_core.catalog.formats.target_table import MATRIX, target_named
from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.merging.coverage import Coverage
from toolscope_core.model.numbers import listed, quantity
from ui.catalog import pricing
from ui.catalog.pricing import DECIDED, WITH_GATEWAY, WITHOUT_CODE, MergeCounts, ToolsetPrice
from ui.shared import page_frame, safe_text
from ui.shared.services import review, server_advice
from ui.shared.snapshot import Snapshot

CLIENTS = tuple(name for name in MATRIX if name in ADVISED or not target_named(name).writes)
"""Clients that people use, and the APIs that they call themselves."""
NAMED = 2


@dataclass(frozen=True, slots=True)
class PriceTag:
    """What the catalog costs ``today``, the ticked ``clients``, and the ``room`` beside it that is
    kept for three prices which need the analysis.
    """

    today: ToolsetPrice
    clients: tuple[Target, ...]
    card: DeltaGenerator
    room: tuple[DeltaGenerator, ...]

    def add(self, place: DeltaGenerator, label: str, price: ToolsetPrice) -> DeltaGenerator:
        """Draw a price beside the limits; the card, for what it takes to get there."""
        card = place.container(border=True, height="stretch", gap="xsmall")
        with card:
            _figures(label, price, self.today)
            _limits(price, self.clients)
        return card


def draw_today(snapshot: Snapshot) -> PriceTag:
    """Draw what the catalog costs as it is."""
    record = snapshot.record
    servers = snapshot.catalog.servers
    price = pricing.today(snapshot)
    owners = f" on {quantity(len(servers), 'server')}" if servers else ""
    st.markdown(
        f"**{safe_text.untrusted(record.name)}** holds {quantity(price.tools, 'tool')}{owners}. "
        f"They cost about {price.tokens:,} tokens in every prompt that includes all of them. "
        "What could it cost, and does it fit?"
    )
    clients = st.pills(
        "Clients you use",
        CLIENTS,
        selection_mode="multi",
        default=[name for name in CLIENTS if target_named(name).rules.most_tools],
        format_func=lambda name: target_named(name).title,
        key="clients",
        persist_state="session",
    )
    with st.container(key="price"):
        first, *room = st.columns(4)
    card = first.container(border=True, height="stretch", gap="xsmall")
    with card:
        _figures("Today", price)
        _limits(price, targets := tuple(map(target_named, clients)))
        page_frame.page_link("catalog", "See all tools", icon="table_rows", part="Tools")
    return PriceTag(price, targets, card, tuple(room))


def fill_in(snapshot: Snapshot, tag: PriceTag) -> None:
    """Draw the prices that follow from the analysis. Raises ``JobError`` before it is finished."""
    decided, kinds = pricing.under(snapshot, DECIDED), pricing.merges(snapshot)
    if decided != tag.today:
        tag.card.caption(
            f"As decided so far: {quantity(decided.tools, 'tool')}, {decided.tokens:,} tokens."
        )
    without_code, with_gateway, servers = tag.room
    with tag.add(without_code, "Without code", pricing.under(snapshot, WITHOUT_CODE)):
        _drop_ins(kinds, review.progress(snapshot).clusters.safe)
    with tag.add(with_gateway, "With a gateway", pricing.under(snapshot, WITH_GATEWAY)):
        _gateways(kinds)
    with servers, st.spinner("Comparing the servers"):
        off = server_advice.advice(snapshot).switch_off
        price = pricing.without_servers(snapshot)
    with tag.add(servers, "Servers switched off", price):
        _servers_off(off)


def _drop_ins(kinds: MergeCounts, safe: int) -> None:
    if not kinds.drop_ins:
        st.caption("There is no drop-in: no tool takes every call of another as it is.")
        return
    no_look = f" {safe:,} {'needs' if safe == 1 else 'need'} no look." if safe else ""
    st.caption(
        f"Accept {quantity(kinds.drop_ins, 'drop-in')}: in each, one tool takes every call of the "
        f"others, which are switched off.{no_look}"
    )
    page_frame.page_link("review", "Review drop-ins", {"show": "Same job"})


def _gateways(kinds: MergeCounts) -> None:
    alike = f" {kinds.alike:,} more look alike; their arguments are not known."
    st.caption(
        f"Also merge {quantity(kinds.gateways, 'group')} of one job that needs a gateway and "
        f"{kinds.families:,} of the same operation, other provider.{alike if kinds.alike else ''}"
    )
    if kinds.gateways + kinds.families:
        show = "All" if kinds.gateways else "Same operation"
        page_frame.page_link("review", "Review these", {"show": show})


def _servers_off(off: Sequence[Coverage]) -> None:
    """What it takes to switch these servers off, and what is lost."""
    if not off:
        st.caption("No server does most of another's work, so none can go.")
        return
    lost = sum(len(one.lost_tools) for one in off)
    names = safe_text.untrusted(listed((one.server for one in off), NAMED))
    whose, have = ("its" if len(off) == 1 else "their"), ("has" if lost == 1 else "have")
    st.caption(
        f"Switch off {names}, and change nothing else: {lost:,} of {whose} tools {have} no "
        "replacement."
    )
    page_frame.page_link("overlap", "Server against server", {"view": "Heatmap"})


def _figures(label: str, price: ToolsetPrice, before: ToolsetPrice | None = None) -> None:
    """The price, and how much less it is than ``before``."""
    tools = quantity(price.tools, "tool")
    if before is not None:
        fewer, share = before.tools - price.tools, 1 - price.tokens / max(1, before.tokens)
        tools += f" ({-fewer:+,})".replace("-", "−") if fewer else " (none fewer)"
        tools += f", {-share:+.0%} tokens".replace("-", "−") if round(share, 2) else ""
    st.metric(
        label,
        f"{price.tokens:,} tokens",
        tools,
        delta_color="off",
        delta_arrow="off",
        help=f"Tokens in every prompt that has all of these tools: {tokenizer().label}.",
    )


def _limits(price: ToolsetPrice, clients: Sequence[Target]) -> None:
    """Whether so many tools fit into each of the clients, a line each."""
    lines = []
    for client in clients:
        over, most = price.tools - (client.rules.most_tools or price.tools), client.rules.most_tools
        icon = ":red[:material/close:]" if over > 0 else ":green[:material/check:]"
        fits = "no limit on tools" if most is None else f"within {most:,}"
        text = f"{over:,} over {most:,}" if over > 0 else fits
        lines.append(f":small[{icon} {client.title}: {text}]")
    if lines:
        st.markdown("  \n".join(lines))
