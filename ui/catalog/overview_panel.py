"""The overview: the price tag, changes in a new version, advice, and what to do next."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.clients.client_table import Client
from toolscope_core.catalog.formats.format_table import ADVISED, MATRIX, target_named
from toolscope_core.catalog.formats.record_format import Target
from toolscope_core.catalog.tokens import UNUSED, tokenizer, unused_tokens
from toolscope_core.merging.coverage import Coverage
from toolscope_core.model.cluster import outcome_word
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.pair import pair_key
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import Tool
from ui.catalog import machine_panel, overview
from ui.catalog.changes_panel import changes_panel
from ui.catalog.findability_panel import found_figure
from ui.shared import ask_panel, page_frame, safe_text
from ui.shared.cards.batches import server_pair_query
from ui.shared.cards.queue import OPEN_STATES, is_family
from ui.shared.kept import kept
from ui.shared.pairs import pair_list
from ui.shared.services import experiments, loaded_queries, review, server_advice
from ui.shared.snapshot import Snapshot

_MOST_SERVERS = 3
MOST_NAMES = 5
MOST_MISSED = 5
_NAMED = 2


def overview_panel(snapshot: Snapshot) -> None:
    """Show what needs no analysis, then the results of the analysis.

    Until the analysis is done, progress is drawn and the page ends there.
    """
    newest = st.container()
    tag = draw_today(snapshot)
    offered = st.container()
    advice, figures = st.container(key="beside").columns([3, 2], gap="medium")
    footer = st.container()
    changes_panel(snapshot, newest, footer)
    with tag.card:
        _links(overview.reading_steps(snapshot.catalog))
    with tag.room[0]:
        page_frame.wait_for_analysis(snapshot)
    with figures.container(border=True, key="next", gap="xsmall"):
        st.markdown("**Next steps**")
        with st.spinner("Adding up what merging saves"):
            steps = (*overview.steps(snapshot), *overview.learning_steps(snapshot))
            _links(steps, first=True)
    fill_in(snapshot, tag)
    with tag.card:
        found_figure(snapshot)
    with advice:
        _servers(snapshot)
        _worst(snapshot, overview.worst(snapshot))
    with figures:
        _shared_names(overview.names_shared(snapshot.plan))
        _missed(snapshot)
    with offered:
        ask_panel.offer(snapshot)


def _servers(snapshot: Snapshot) -> None:
    """Draw the servers that could be switched off, largest saving first, with their use in logs;
    then the copies. People decide about servers before they decide about tools.
    """
    advice = server_advice.advice(snapshot)
    if not advice.switch_off and not advice.copies:
        return
    with st.container(border=True, gap="xsmall", key="advised_servers"):
        st.markdown("**Servers to switch off**: which ones can other servers replace?")
        for one in advice.switch_off[:_MOST_SERVERS]:
            text = safe_text.sentence(one.in_words)
            if len(one.others) == 1:
                page_frame.page_link("review", text, server_pair_query(one.server, *one.others))
            else:
                page_frame.page_link("catalog", text, server_advice.CAN_GO, server=one.server)
            for sentence in filter(None, (*one.keeps, server_advice.use_in_words(snapshot, one))):
                st.caption(safe_text.sentence(sentence))
        if (more := len(advice.switch_off) - _MOST_SERVERS) > 0:
            page_frame.page_link("catalog", f"{more} more", server_advice.CAN_GO)
        if together := safe_text.sentence(advice.needless_in_words):
            shown = server_advice.SERVERS | {"servers_shown": server_advice.TOGETHER}
            page_frame.page_link("catalog", together, shown)
        for group in advice.copies[:_MOST_SERVERS]:
            text = f"Keep one of {len(group):,} copies: {safe_text.untrusted(listed(group))}"
            page_frame.page_link("catalog", text, server_advice.SERVERS, copies=group[0])


def _worst(snapshot: Snapshot, collisions: Sequence[overview.Collision]) -> None:
    with st.container(border=True, gap="xsmall", key="worst_confusions"):
        st.markdown(
            "**Worst confusions**: which tools would an agent mistake for each other?",
            help="Based on texts, names, and whether another server has a similar tool.",
        )
        if not collisions:
            st.caption("Every confusion has been reviewed.")
        for item in collisions:
            names = [
                safe_text.untrusted(f"{tool.name} · {tool.home}" if tool.home else tool.name)
                for tool in item.tools
            ]
            page_frame.page_link(
                "overlap",
                f"**{names[0]}** and **{names[1]}**: {item.in_words}",
                pair=pair_key(item.verdict.pair),
            )
            st.caption(safe_text.untrusted(item.reason))
        if siblings := pair_list.pair_counts(snapshot.analysis).siblings:
            page_frame.page_link(
                "overlap",
                f"{quantity(siblings, 'close pair')} that do different jobs",
                verdict=outcome_word("keep"),
            )


def _shared_names(names: Mapping[str, Sequence[str]]) -> None:
    """Draw the names that are used on several servers, one per line."""
    if not names:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f"**{quantity(len(names), 'name')} on several servers**: which server is meant?"
        )
        query, icon = {"part": "Tools", "state": overview.SHARES_NAME}, "table_rows"
        for name in list(names)[:MOST_NAMES]:
            servers = safe_text.untrusted(listed(names[name], _NAMED))
            text = f"**{safe_text.untrusted(name)}**: {servers}"
            page_frame.page_link("catalog", text, query | {"catalog_find": name}, icon=icon)
        if (more := len(names) - MOST_NAMES) > 0:
            page_frame.page_link("catalog", f"{more:,} more", query, icon=icon)


def _missed(snapshot: Snapshot) -> None:
    """Draw the tools that queries need but search does not find, according to the newest
    measurement.

    If there are queries but no measurement, a link to the measurement is drawn.
    """
    missed = experiments.missed(snapshot)
    sets = loaded_queries.sets(snapshot)
    if missed is None and not sets:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown("**Tools that search misses**: which tools would an agent never be shown?")
        if missed is None:
            count = quantity(sum(len(one.content.queries) for one in sets), "query")
            page_frame.page_link("evaluation", f"Measure the {count} of this catalog to find out")
            return
        if not missed:
            st.caption(
                "Every tool that a query needs was among the first ten results for at least one "
                "query."
            )
        tools = snapshot.catalog.by_id
        for tool_id, query in list(missed.items())[:MOST_MISSED]:
            name = safe_text.untrusted(tools[tool_id].name if tool_id in tools else tool_id)
            page_frame.page_link(
                "retrieval", f"**{name}**, for: {safe_text.untrusted(query)}", q=query
            )
        if (more := len(missed) - MOST_MISSED) > 0:
            page_frame.page_link("evaluation", f"{more:,} more")


def _links(steps: Iterable[overview.NextStep], first: bool = False) -> None:
    for place, step in enumerate(steps):
        text = safe_text.untrusted(step.text)
        label = f"**{text}**" if first and place == 0 else text
        icon = "search" if step.page == "catalog" else ""
        page_frame.page_link(step.page, label, step.query, icon=icon)


DECIDED = PlanConfig()
WITHOUT_CODE = PlanConfig(accept="all")
WITH_GATEWAY = PlanConfig(accept="all", gateway=True)


@dataclass(frozen=True, slots=True)
class ToolsetPrice:
    """The number of tools that an agent sees, and their tokens in every prompt.

    ``by_server`` has the number of tools on each named server.
    """

    tools: int
    tokens: int
    by_server: Mapping[str, int]

    def tools_in(self, client: str) -> int:
        """The number of tools that a client sees. ``client`` is its title.

        Every client sees all tools, with one exception: in a catalog of this machine's servers, a
        local client sees only the tools of the servers that are enabled in it.
        """
        names = machine_panel.servers_by_client()
        known = frozenset[str]().union(*names.values())
        if client not in names or not self.by_server or not self.by_server.keys() <= known:
            return self.tools
        return sum(self.by_server[one] for one in names[client] if one in self.by_server)


def today(snapshot: Snapshot) -> ToolsetPrice:
    """The price of the catalog as loaded; needs no analysis."""
    tokens = snapshot.tokens
    return ToolsetPrice(len(tokens), sum(tokens.values()), _by_server(snapshot.catalog.tools))


@kept()
def unused(snapshot: Snapshot) -> int:
    """The tokens of unused definitions. No price on this page includes them."""
    catalog = snapshot.catalog
    ids = {finding.tool_id for finding in catalog.findings if finding.code == UNUSED}
    return sum(unused_tokens(catalog.by_id[one]) for one in ids)


@kept()
def under(snapshot: Snapshot, config: PlanConfig) -> ToolsetPrice:
    """The price of the toolset that the plan gives with ``config``. Raises ``JobError`` before the
    analysis is done.
    """
    return _price(snapshot, snapshot.plan_under(config).tools)


@kept()
def without_servers(snapshot: Snapshot) -> ToolsetPrice:
    """The price with today's decisions after all servers named in the advice are switched off.

    Raises the errors of ``under``.
    """
    servers_off = {one.server for one in server_advice.advice(snapshot).switch_off}
    remaining = (item for item in snapshot.plan.tools if item.tool.server not in servers_off)
    return _price(snapshot, remaining)


def _price(snapshot: Snapshot, items: Iterable[MergedTool]) -> ToolsetPrice:
    tools, costs = [item.tool for item in items], snapshot.work.catalogs.costs
    tokens = sum(costs.of(tool, snapshot.format) for tool in tools)
    return ToolsetPrice(len(tools), tokens, _by_server(tools))


def _by_server(tools: Iterable[Tool]) -> Mapping[str, int]:
    return Counter(tool.server for tool in tools if tool.server)


_CLIENTS = tuple(name for name in MATRIX if name in ADVISED or not target_named(name).writes)
"""The clients that people use, and the APIs that people call directly."""


@dataclass(frozen=True, slots=True)
class PriceTag:
    """The cost of the catalog ``today``, the ticked ``clients``, and ``room`` for three more
    prices.

    Those three prices need the analysis.
    """

    today: ToolsetPrice
    clients: tuple[Target, ...]
    card: DeltaGenerator
    room: tuple[DeltaGenerator, ...]

    def add(self, place: DeltaGenerator, label: str, price: ToolsetPrice) -> DeltaGenerator:
        """Draw a price and whether each client's limit is met. Returns the card, so that the steps
        to reach that price can be added.
        """
        card = place.container(border=True, height="stretch", gap="xsmall")
        with card:
            _figures(label, price, self.today)
            _limits(price, self.clients)
        return card


def draw_today(snapshot: Snapshot) -> PriceTag:
    """Draw the cost of the catalog without any changes."""
    record = snapshot.record
    servers = snapshot.catalog.servers
    price = today(snapshot)
    owners = f" on {quantity(len(servers), 'server')}" if servers else ""
    st.container(key="catalog_size").markdown(
        f"**{safe_text.untrusted(record.name)}** has {quantity(price.tools, 'tool')}{owners}. They "
        f"cost about {price.tokens:,} tokens in every prompt that includes all of them. What could "
        "they cost instead, and do they fit your clients?"
    )
    if tokens := unused(snapshot):
        st.caption(
            f"Not counted: {tokens:,} tokens of definitions that nothing uses. The servers send "
            "them; every export leaves them out."
        )
    clients = st.pills(
        "Clients you use",
        _CLIENTS,
        selection_mode="multi",
        default=[name for name in _CLIENTS if target_named(name).rules.most_tools],
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
    """Draw the prices that need the analysis. Raises ``JobError`` before the analysis is done."""
    decided, plan = under(snapshot, DECIDED), snapshot.plan_under(WITH_GATEWAY)
    accepted = {one.id for one in snapshot.plan.clusters if one.state == "accepted"}
    waiting = [one for one in plan.applied if one.id not in accepted]
    kinds = Counter("family" if is_family(one) else one.kind for one in waiting)
    if decided != tag.today:
        tag.card.caption(
            f"As decided so far: {quantity(decided.tools, 'tool')}, {decided.tokens:,} tokens."
        )
    without_code, with_gateway, servers = tag.room
    with tag.add(without_code, "Without code", under(snapshot, WITHOUT_CODE)):
        _drop_ins(kinds["drop_in"], review.progress(snapshot).clusters.safe, tag.clients)
    with tag.add(with_gateway, "With a gateway", under(snapshot, WITH_GATEWAY)):
        lookalikes = sum(one.kind == "looks_alike" for one in plan.clusters)
        left = sum(one.state in OPEN_STATES for one in plan.clusters) - lookalikes
        _gateways(kinds["gateway"], kinds["family"], lookalikes, left)
    with servers, st.spinner("Comparing the servers"):
        off = server_advice.advice(snapshot).switch_off
        price = without_servers(snapshot)
    with tag.add(servers, "Servers switched off", price if off else tag.today):
        _servers_off(off, () if off else server_advice.against_all(snapshot))


def _drop_ins(drop_ins: int, safe: int, clients: Sequence[Target]) -> None:
    if not drop_ins:
        st.caption("No drop-in is left: no tool accepts every call made to another tool unchanged.")
        return
    need = "needs" if safe == 1 else "need"
    no_look = f" {quantity(safe, 'drop-in')} {need} no review." if safe else ""
    st.container(key="drop_ins").caption(
        f"Accept {quantity(drop_ins, 'drop-in')}: the kept tool can take every call made to the "
        f"other tools, which are switched off.{no_look}"
    )
    for client in clients:
        if isinstance(client, Client) and client.effect:
            st.markdown(f":small[{client.title}: {client.effect}]")
    page_frame.page_link("review", "Review drop-ins", {"show": "Same job"})


def _gateways(gateways: int, families: int, lookalikes: int, left: int) -> None:
    """Show what a gateway could do: merge same-job groups and families.

    Also show how many groups only look alike (``lookalikes``) and how many proposals are ``left``;
    these are not merged.
    """
    more = ""
    if lookalikes:
        more = (
            f" The tools of {quantity(lookalikes, 'other group')} look alike, but their arguments "
            "are not known."
        )
    if left:
        more += (
            f" {quantity(left, 'proposal')} {'is' if left == 1 else 'are'} not counted: "
            "blocked, changed, in conflict, or larger than the tools that would be merged."
        )
    groups = [
        quantity(number, word)
        for number, word in ((gateways, "same-job group"), (families, "family"))
        if number
    ]
    also = f"Also merge {' and '.join(groups)}." if groups else "Nothing more to merge."
    st.container(key="gateways").caption(f"{also}{more}")
    if gateways + families:
        show = "All" if gateways else "Families"
        page_frame.page_link("review", "Review these", {"show": show})


def _servers_off(off: Sequence[Coverage], others: Sequence[Coverage]) -> None:
    """Show how to switch off these servers, and what would be lost.

    If ``off`` is empty, draw which of the ``others`` comes closest.
    """
    if not off:
        st.caption("No server does most of another's work, so none can be switched off.")
        closest = max(others, key=lambda one: (one.share, one.server), default=None)
        if closest is not None and closest.served:
            st.caption(safe_text.sentence(f"Closest: {closest.in_words}"))
            query = {"part": "Servers", "server": closest.server}
            page_frame.page_link("catalog", f"See {safe_text.untrusted(closest.server)}", query)
        return
    names = safe_text.untrusted(listed((one.server for one in off), _NAMED))
    done = sum(len(one.done) for one in off)
    perhaps = sum(len(one.perhaps_done) for one in off)
    lost = sum(len(one.lost_tools) for one in off)
    tools = sum(one.tools for one in off)
    whose = "its" if len(off) == 1 else "their"
    st.caption(
        f"Switch off {names}, and change nothing else. Of {whose} {quantity(tools, 'tool')}, "
        f"other servers cover {done:,}{f' and perhaps {perhaps:,} more' * bool(perhaps)}; "
        f"{lost:,} would be lost."
    )
    page_frame.page_link("catalog", "Server against server", server_advice.CAN_GO)


def _figures(label: str, price: ToolsetPrice, before: ToolsetPrice | None = None) -> None:
    """Draw the price, and how much lower it is than ``before``."""
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
        help=f"Tokens in every prompt that includes all of these tools: {tokenizer().label}.",
    )


def _limits(price: ToolsetPrice, clients: Sequence[Target]) -> None:
    """Show whether the tools are within each client's limit, one client per line."""
    lines = []
    for client in clients:
        most = client.rules.room
        over = price.tools_in(client.title) - (most or price.tools)
        icon = ":red[:material/close:]" if over > 0 else ":green[:material/check:]"
        own = f" + {client.rules.own_tools:,} own" if client.rules.own_tools else ""
        fits = "no limit on tools" if most is None else f"within {most:,}{own}"
        text = f"{over:,} over {most:,}{own}" if over > 0 else fits
        lines.append(f":small[{icon} {client.title}: {text}]")
    if lines:
        st.markdown("  \n".join(lines))
