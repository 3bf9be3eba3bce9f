"""Every page against axe-core: no serious or critical finding, by light and by dark."""

from itertools import cycle, islice

import pytest
from axe_playwright_python import sync_playwright as axe
from playwright.sync_api import expect

from toolscope_core.model.pair import tool_key

PAGES = {
    "Tools": ("", {"part": "Tools"}),
    "settings": ("settings", {}),
    "bulk": ("review", {"queue_view": "By merge"}),
}
"""Those that test_ten_tasks.py, which looks at each page it comes to, does not."""
AT_NIGHT = {
    "Map": ("overlap", {"view": "Map", "method": "PCA"}),  # UMAP is compiled for half a minute
    "graph": ("graph", {}),
    "retrieval": ("retrieval", {"q": "Find my notes on Lisbon and translate them"}),
    "drawer": ("review", {"tool": tool_key("cellar-files/list_files")}),
    "overview": ("", {}),
    "query sets": ("", {"part": "Query+sets", "add_from": "MCP+servers"}),
    **{page: (page, {}) for page in "overlap review documents evaluation export history".split()},
    "profiles": ("profiles", {}),
    **{part: ("", {"part": part}) for part in "Servers Findings Usage More".split()},
    **{part: ("history", {"history_part": part}) for part in ("Compare", "More")},
    **{view: ("overlap", {"view": view}) for view in "Threshold Heatmap".split()},
    "undecided": ("review", {"show": "Undecided"}),
}
"""They are made of what the others have, looked at by those tasks, or mostly a picture."""
NOT_OURS = {
    "light": {},
    # Streamlit writes white on the primary colour, which must be light enough here to be read as
    # text on the dark ground: no colour does both.
    "dark": {"exclude": [["[data-testid^='stBaseButton-primary']"]]},
}


def serious_findings(page, scheme):
    report = axe.Axe().run(page, NOT_OURS[scheme]).response
    return [
        (violation["id"], node["html"][:300], node["target"])
        for violation in report["violations"]
        if violation["impact"] in {"serious", "critical"}
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("each", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_no_page_shuts_anybody_out(watched, each):
    """By day a page by light, the next by dark; at night each by both, without a reload."""
    schemes, trouble = cycle(("light", "dark")), {}

    def check(name):
        for scheme in islice(schemes, each):
            watched.page.emulate_media(color_scheme=scheme)
            trouble[name, scheme] = serious_findings(watched.settled(), scheme)

    first = watched.open("")
    expect(first.get_by_text("Worst confusions")).to_be_visible()
    for name, (path, query) in {**PAGES, **(AT_NIGHT if each > 1 else {})}.items():
        watched.open(path, **query)
        check(name)
    page = watched.open("review")
    page.locator("h1").click()
    for name, key in (("keys", "h"), ("note", "g"), ("parts", "p")):
        page.keyboard.press(key)
        check(name)
    assert {name: items for name, items in trouble.items() if items} == {}
