"""The app: its server, the page registry, and the frame around every page."""

import sys
from pathlib import Path

import streamlit as st

from ui import PAGES
from ui.shared import sign_in

WORDMARK = Path(__file__).parent / "ui" / "wordmark.svg"
STYLE = (
    # The page begins right below the menu bar, and is as wide as the window.
    "<style>[data-testid='stMainBlockContainer'] {padding: 3.75rem 2rem 2rem} "
    "[data-testid='stBottomBlockContainer'] {padding: .5rem 2rem} "
    "h1 {padding: 0 0 .6rem !important}"
    # A long link or a long row of choices continues on the next line instead of being cut.
    "[data-testid='stPageLink'] a span, [data-testid='stPageLink'] a p "
    "{white-space: normal !important; overflow: visible !important} "
    "[data-testid='stButtonGroup'] > div {flex-wrap: wrap; overflow: visible}"
    "@media (max-width: 1250px) {.st-key-beside [data-testid='stColumn'] {min-width: 100%} "
    ".st-key-price [data-testid='stColumn'] {min-width: 45%}}"
    ".st-key-price [data-testid='stMetricValue'] {font-size: 1.6rem} "
    ".st-key-price [data-testid='stMetricDelta'] * {white-space: normal}"
    # The caption of a link is below the link's words. A link to this page looks like any other.
    ":is(.st-key-advised_servers, .st-key-worst_confusions) [data-testid='stCaptionContainer'] "
    "{padding-left: 1.9rem}"
    "[data-testid='stMainBlockContainer'] [data-testid='stPageLink-NavLink']:not(:hover) "
    "{background: none} [data-testid='stPageLink-NavLink'] p {font-weight: 400}"
    "[data-testid='stPageLink'] a {align-items: flex-start} "
    "[data-testid='stPageLink'] [data-testid='stIconMaterial'] {position: relative; top: .2rem}"
    "[class*='st-key-members_'] .stColumn {min-width: 190px}"
    "[data-testid='stHtml'] {overflow-wrap: anywhere}"  # a long word stays in its box
    "@media (max-width: 1100px) {"  # a small screen, or a large one at 150 %
    "[data-testid='stSidebar'][style*='width: 300px'] {width: 210px !important} "
    "[data-testid='stMainBlockContainer'] {padding: 3.75rem 1rem 1rem} "
    "[data-testid='stBottomBlockContainer'] {padding: .25rem 1rem} "
    ".st-key-queue_and_card > div > .stHorizontalBlock {gap: .75rem; flex-wrap: nowrap} "
    ".st-key-queue_and_card > div > .stHorizontalBlock > .stColumn {flex: 1 1 0; min-width: 0} "
    ".st-key-queue_and_card > div > .stHorizontalBlock > .stColumn:first-child "
    "{flex: 0 0 clamp(240px, 43%, 338px)} "
    "[data-testid='stBottom'] [data-testid='stHorizontalBlock'], "
    "[data-testid='stBottom'] .stHorizontalBlock {gap: .35rem} "
    "[data-testid='stBottom'] button {padding: .1rem .5rem; min-height: 2rem}}"
    "</style>"
)


def draw_page() -> None:
    """Draw the page in the address with its frame. Slow imports come last."""
    # With an icon of our own, the browser does not fetch the icon of the page from a font server.
    st.set_page_config(page_title="ToolScope", page_icon="🧰", layout="wide")
    st.logo(str(WORDMARK), size="large")
    st.html(STYLE)
    # This is off in config.toml, because Streamlit would list every file of pages/ until the first
    # run ends. While it is off, this menu is hidden too.
    st.set_option("client.showSidebarNavigation", True)
    page = st.navigation(
        [
            st.Page(
                f"pages/{name}.py",
                title=name.title(),
                icon=f":material/{icon}:",
                url_path=name,
                default=name == next(iter(PAGES)),
            )
            for name, icon in PAGES.items()
        ]
    )
    st.set_option("client.showSidebarNavigation", False)
    starting = st.empty()
    if "ui.shared.page_frame" not in sys.modules:  # first visit, and not by `python -m ui`
        starting.info(
            "ToolScope is starting. The first start takes a few seconds.", icon=":material/timer:"
        )
    from toolscope_core.model.errors import ToolScopeError, missing_packages_in_words
    from ui.shared import page_frame, safe_text, sign_in
    from ui.shared.tools import tool_drawer, tool_selection

    starting.empty()
    try:
        sign_in.refuse_unguarded()
        sign_in.required()
        snapshot = page_frame.frame(page.title)
        tool_selection.restore(snapshot)
        tool_selection.selection_panel(snapshot)
        tool_drawer.drawer(snapshot)
        with missing_packages_in_words():
            page.run()
        page_frame.leave_jobs()
    except ToolScopeError as error:
        safe_text.show_error(error)


if __name__ == "__main__":  # a script that Streamlit runs for each page
    draw_page()
else:  # a module: `streamlit run`, uvicorn and `python -m ui` look for this name
    from starlette.middleware import Middleware

    from ui.shared import request_guard

    app = st.App(
        __file__, middleware=[Middleware(request_guard.RequestGuard)], lifespan=sign_in.announced
    )
