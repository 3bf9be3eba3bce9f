"""The price tag: tools and tokens now and by each way to fewer, beside the limits of clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.formats.format_table import ADVISED
from toolscope_core.catalog.formats.target import Target
from toolscope_core.catalog.formats.target_table import MATRIX, target_named
from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.model.numbers import listed, quantity
from ui.catalog.overview import Overview
from ui.catalog.pricing import DECIDED, WITH_GATEWAY, WITHOUT_CODE, Pricing, ToolsetPrice
from ui.shared import page_frame, safe_text
from ui.shared.services.server_advice import ServerAdvice

CLIENTS = tuple(name for name in MATRIX if name in ADVISED or not target_named(name).writes)
"""Clients that people use, and the APIs that they call themselves."""
NAMED = 2


@dataclass(frozen=True, slots=True)
class PricePlaces:
    """The room that is kept for the prices that need the analysis, and the ticked ``clients``."""

    clients: tuple[Target, ...]
    today: DeltaGenerator
    without_code: DeltaGenerator
    with_gateway: DeltaGenerator
    servers: DeltaGenerator


def draw_today() -> PricePlaces:
    """Draw what the catalog costs as it is; returns the places for the rest."""
    record = page_frame.current()
    figures, price = (
        page_frame.service(Overview).figures(record.id),
        page_frame.service(Pricing).today(record.id),
    )
    owners = f" on {quantity(figures.servers, 'server')}" if figures.servers else ""
    with st.container(key="price_head"):
        words, choice = st.columns([3, 2], gap="medium", vertical_alignment="bottom")
    words.markdown(
        f"**{safe_text.untrusted(record.name)}** holds {quantity(price.tools, 'tool')}{owners}. "
        f"They cost about {price.tokens:,} tokens in every prompt that includes all of them. "
        "What could it cost, and does it fit?"
    )
    clients = choice.multiselect(
        "Clients you use",
        CLIENTS,
        [name for name in CLIENTS if target_named(name).rules.most_tools],
        format_func=lambda name: target_named(name).title,
        key="clients",
        persist_state="session",
        placeholder="none",
    )
    with st.container(key="price"):
        places = PricePlaces(tuple(map(target_named, clients)), *_cards(4))
    with places.today:
        _figures("Today", price)
        _limits(price, places.clients)
        page_frame.page_link("catalog", "See all tools", icon="table_rows", part="Tools")
    return places


def fill_in(places: PricePlaces) -> None:
    """Draw the prices that follow from the analysis. Raises ``JobError`` before it is finished."""
    catalog_id = page_frame.current().id
    pricing = page_frame.service(Pricing)
    safe = page_frame.workspace().review.progress(catalog_id).clusters.safe
    today, kinds = pricing.today(catalog_id), pricing.kinds(catalog_id)
    decided = pricing.under(catalog_id, DECIDED)
    if decided != today:
        places.today.caption(
            f"As decided so far: {quantity(decided.tools, 'tool')}, {decided.tokens:,} tokens."
        )
    with places.without_code:
        price = pricing.under(catalog_id, WITHOUT_CODE)
        _figures("Without code", price, today)
        _limits(price, places.clients)
        st.caption(
            f"Accept {quantity(kinds.drop_ins, 'drop-in')}: in each, one tool takes every call of "
            f"the others, which are switched off.{f' {safe:,} need no look.' if safe else ''}"
            if kinds.drop_ins
            else "There is no drop-in: no tool takes every call of another as it is."
        )
        page_frame.page_link(
            "review", "Review drop-ins", {"show": "Duplicates"}, disabled=not kinds.drop_ins
        )
    with places.with_gateway:
        price = pricing.under(catalog_id, WITH_GATEWAY)
        _figures("With a gateway", price, today)
        _limits(price, places.clients)
        alike = f" {kinds.alike:,} more look alike; their arguments are not known."
        st.caption(
            f"Also merge {quantity(kinds.gateways, 'group')} of one job that needs a gateway and "
            f"{kinds.families:,} of the same operation, other provider."
            f"{alike if kinds.alike else ''}"
        )
        page_frame.page_link(
            "review", "Review those", {"show": "Families"} if not kinds.gateways else {},
            disabled=not kinds.gateways + kinds.families,
        )  # fmt: skip
    with places.servers, st.spinner("Comparing the servers"):
        _servers_off(catalog_id, today, places.clients)


def _servers_off(catalog_id: int, today: ToolsetPrice, clients: Sequence[Target]) -> None:
    """What is left once the servers of the advice are off."""
    price = page_frame.service(Pricing).without_servers(catalog_id)
    off = page_frame.service(ServerAdvice).advice(catalog_id).switch_off
    _figures("Servers switched off", price, today)
    _limits(price, clients)
    lost = sum(len(one.lost_tools) for one in off)
    names = safe_text.untrusted(listed((one.server for one in off), NAMED))
    whose, have = ("its" if len(off) == 1 else "their"), ("has" if lost == 1 else "have")
    st.caption(
        f"Switch off {names}, and change nothing else: {lost:,} of {whose} tools {have} no "
        "replacement."
        if off
        else "No server does most of another's work, so none can go."
    )
    page_frame.page_link("overlap", "Server against server", {"view": "Heatmap"}, disabled=not off)


def _cards(count: int) -> list[DeltaGenerator]:
    return [
        column.container(border=True, height="stretch", gap="xsmall")
        for column in st.columns(count)
    ]


def _figures(label: str, price: ToolsetPrice, before: ToolsetPrice | None = None) -> None:
    """The price, and how much less it is than ``before``."""
    tools = quantity(price.tools, "tool")
    if before is not None:
        fewer, share = before.tools - price.tools, 1 - price.tokens / max(1, before.tokens)
        tools += f", {fewer:,} fewer" if fewer else ", none fewer"
        tools += f" · {-share:+.0%} tokens".replace("-", "−") if round(share, 2) else ""
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
        fits = "no limit on tools" if most is None else f"fits its {most:,}"
        text = f"{over:,} over its {most:,}" if over > 0 else fits
        lines.append(f":small[{icon} {client.title}: {text}]")
    if lines:
        st.markdown("  \n".join(lines))
