"""The results for a request, with the original toolset and the merged one side by side."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.evaluation.search_results import Confusion, RankingPlace, SearchSide
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.retriever import RankedTool
from ui.shared import data_tables, page_frame, pictures, safe_text
from ui.shared.data_tables import Column, Columns, Row
from ui.shared.pairs.pair_panel import pair_link
from ui.shared.pictures import picture
from ui.shared.services import searches
from ui.shared.services.searches import Lookup, SearchView
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

MOST_HEIGHT = 420

ANSWER, ABOUT_ANSWERS = "✓", "An answer in the query set."
SCORE = Column[Any]("score", format="%.2f", full=1.0, width=85)

MOST_LINKED = 8

ROW, FRAME = 26, 84
"""The height in pixels of a bar with the space around it, and of everything outside the bars."""

PART_NAMES = ("dense (meaning)", "sparse (words)", "reranking", "learned")

_PATTERNS = ("", "/", ".", "x")


def result_panel(snapshot: Snapshot, lookup: Lookup) -> SearchView | None:
    """Draw both rankings. Returns ``None`` while an index is being built."""
    with st.spinner("Searching", show_time=True):
        view = searches.look(snapshot, lookup)
    if view is None:
        building_panel(snapshot, lookup)
        return None
    _subqueries(view)
    if view.none_fits:
        st.warning(view.none_fits, icon=":material/help:")
    if lookup.servers:
        st.caption(
            f"{view.from_tools:.0%} of the results before the merge come from a server's tools, "
            "the other results from a server's own text."
        )
    noun = "server" if lookup.servers else "tool"
    sides = (
        ("As it is", "before", view.before, None),
        ("Merged", "after", view.after, view.before),
    )
    for column, (title, key, side, other) in zip(st.columns(2, gap="medium"), sides, strict=True):
        with column:
            st.subheader(f"{title}: {quantity(side.size, noun)}", anchor=False)
            _figures(side, other)
            _needs(side)
            _table(side.places, key, view, lookup)
            if side.places and not lookup.servers:
                _bars(side.places, key)
    return view


def building_panel(snapshot: Snapshot, lookup: Lookup) -> None:
    """Start building the index, but only once. After a failure, it starts only on request.

    Until the index is built, results by words alone are drawn.
    """
    page_frame.job_started_once(
        snapshot.job(searches.KIND),
        lambda: searches.start(snapshot, lookup),
        "Building the search index of this toolset, only once. Existing embeddings are reused.",
        "index",
    )
    if places := () if lookup.servers else searches.by_words(snapshot, lookup):
        st.subheader("Results by words alone (BM25), until the index is ready", anchor=False)
        has_servers = bool(snapshot.analysis.catalog.servers)
        columns: Columns[tuple[Tool, RankedTool]] = [
            Column("tool", lambda row: row[0].name),
            Column("server", lambda row: row[0].server, visible=has_servers),
            Column("BM25", lambda row: round(row[1].sparse, 2)),
        ]
        data_tables.draw(places, columns, "Results by words alone")


def open_column(rows: Sequence[Row], tool_id: Callable[[Row], str], key: str) -> Column[Row]:
    """A column of small buttons. Each button opens the tool of its row."""
    return data_tables.button_column(
        rows,
        ":material/right_panel_open:",
        lambda row: tool_parts.open_tool(tool_id(row)),
        key=key,
        width=45,
    )


def confusion_panel(snapshot: Snapshot, ties: Sequence[Confusion]) -> None:
    """Draw the near ties, each with a link to its pair."""
    st.subheader("Which tools compete for this request", anchor=False)
    if not ties:
        st.caption(
            "None: no two of these tools have nearly the same score and do the same or a related "
            "job."
        )
        return
    st.caption(
        "Tools of the original toolset with nearly the same score that, according to the judge, "
        "do the same job or a related one. The agent has to choose between them."
    )
    for tie in ties[:MOST_LINKED]:
        with st.container(horizontal=True, vertical_alignment="center"):
            pair_link(snapshot, tie.key)
            hidden = " :orange[Only one of these two tools answers the request.]"
            st.markdown(
                f"{_named(tie.first)} and {_named(tie.second)}: {tie.kind}, scores "
                f"{tie.gap:.2f} apart.{hidden if tie.hides else ''}"
            )
    if len(ties) > MOST_LINKED:
        st.caption(f"And {len(ties) - MOST_LINKED:,} more.")


def score_bars(places: Sequence[RankingPlace]) -> go.Figure:
    """A stacked bar for each place, with the first place on top. A check marks the answers to the
    request.
    """
    labels = [
        f"{'✓ ' if place.answers else ''}{pictures.label(place.name, 26)}  {rank}"
        for rank, place in enumerate(places, 1)
    ]
    traces = [
        go.Bar(
            y=labels,
            x=[round(place.parts[at], 4) for place in places],
            name=name,
            orientation="h",
            marker={"color": pictures.PALETTE[at], "pattern": {"shape": _PATTERNS[at]}},
            hovertemplate=f"%{{x:.2f}} {name}<extra></extra>",
        )
        for at, name in enumerate(PART_NAMES)
        if any(place.parts[at] for place in places)
    ]
    figure = pictures.figure(traces, height=FRAME + ROW * len(places))
    figure.update_layout(
        barmode="stack",
        bargap=0.3,
        xaxis={"title": "score", "range": [0, 1.02], "showgrid": True},
        yaxis={"autorange": "reversed", "showgrid": False},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    return figure


def _subqueries(view: SearchView) -> None:
    if not view.subqueries:
        return
    origin = "by rule" if view.by_rule else "by the steps of its query set"
    parts = "; ".join(
        f"**{number}** {safe_text.untrusted(text)}"
        for number, text in enumerate(view.subqueries, 1)
    )
    st.markdown(f"Split {origin}: {parts}")


def _figures(side: SearchSide, other: SearchSide | None) -> None:
    """Show how many needs the results serve and what they cost, compared with the ``other`` side if
    there is one.
    """
    served = f"**{side.served} of {len(side.needs)}** answers found · " if side.needs else ""
    difference = side.tokens - other.tokens if other else 0
    more = f" ({difference:+,})" if difference else ""
    st.markdown(
        f"{served}**{side.tokens:,}** tokens{more} · **{side.seconds * 1000:,.0f} ms**",
        help=f"Answers come from the query set. Tokens ({tokenizer().label}) are what these "
        "definitions add to the prompt. The time includes encoding the request.",
    )


def _needs(side: SearchSide) -> None:
    """Show the needs that the results do not serve, and where they rank."""
    for need in side.needs:
        if need.rank is not None and need.rank <= len(side.places):
            continue
        names = " or ".join(f"**{safe_text.untrusted(name)}**" for name in need.ids[:3])
        where = f"ranked {need.rank}" if need.rank else "not among the first results"
        st.markdown(f":material/search_off: Missed: {names}, {where}.")


def _table(places: Sequence[RankingPlace], key: str, view: SearchView, lookup: Lookup) -> None:
    if not places:
        st.caption("Nothing is found.")
        return
    later = key == "after"
    side = "toolset merged" if later else "toolset as it is"
    columns: Columns[RankingPlace] = [
        Column("rank", title="#", width=40),
        Column(
            "elsewhere",
            partial(_elsewhere, later),
            title="before" if later else "after",
            width=60,
            help="Rank in the toolset as it is. The merge moved the tool: ▲ up, ▼ down."
            if later
            else "Rank after the merge. The merge moves the tool: ▲ up, ▼ down.",
        ),
        Column(
            "answers",
            lambda place: ANSWER if place.answers else "",
            title=ANSWER,
            width=35,
            help=ABOUT_ANSWERS,
            visible=bool(view.before.needs or view.after.needs),
        ),
        Column("name", title="server" if lookup.servers else "tool", width=165),
        *([] if lookup.servers else [open_column(places, lambda place: place.id, f"open_{key}")]),
        SCORE,
        Column(
            "part",
            lambda place: str(place.part) if place.part else "whole",
            width=60,
            help="The number of the sub-query, listed above, that found this tool.",
            visible=bool(view.subqueries),
        ),
        Column(
            "server",
            width=110,
            visible=not lookup.servers and any(place.server for place in places),
        ),
        Column(
            "found by",
            lambda place: place.led_by or "its own text",
            width=140,
            help="The tool that led to the server, or the server's own text.",
            visible=lookup.servers,
        ),
        Column(
            "description",
            lambda place: "made of its tools" if place.is_made_up else "its own",
            width=130,
            help="A server without a description is found by its tools' names.",
            visible=any(place.is_made_up for place in places),
        ),
        Column(
            "merged",
            lambda place: place.stands_for,
            width=65,
            help="The number of tools that were merged into this one.",
            visible=later and any(place.stands_for > 1 for place in places),
        ),
        Column("tokens", title="tokens ≈", width=75),
    ]
    alt = f"What the request finds in the {side}"
    data_tables.draw(places, columns, alt, most=MOST_HEIGHT, key=f"found_{key}")


def _elsewhere(later: bool, place: RankingPlace) -> str:
    """The tool's place in the other toolset, and whether the merge moved it up or down."""
    if place.elsewhere is None:
        return "new" if later else "gone"
    gained = (place.elsewhere - place.rank) * (1 if later else -1)
    return f"{place.elsewhere} {'▲' if gained > 0 else '▼' if gained < 0 else ''}".strip()


def _bars(places: Sequence[RankingPlace], key: str) -> None:
    columns: Columns[RankingPlace] = [
        Column("rank"),
        Column("tool", lambda place: place.name),
        Column("server"),
        *(Column(name, partial(_part, at)) for at, name in enumerate(PART_NAMES)),
        Column("score", lambda place: round(place.score, 4)),
    ]
    name = f"Parts of the scores, toolset {'as it is' if key == 'before' else 'merged'}"
    picture(score_bars(places), lambda: data_tables.records(places, columns), f"scores_{key}", name)


def _part(at: int, place: RankingPlace) -> float:
    return round(place.parts[at], 4)


def _named(place: RankingPlace) -> str:
    """The tool with its place. Safe in markdown."""
    of = f" ({safe_text.untrusted(place.server)})" if place.server else ""
    return f"\\#{place.rank} **{safe_text.untrusted(place.name)}**{of}"
