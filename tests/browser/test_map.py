"""The map in Chromium: lasso and box select tools, which are put forward and undone; dark."""

import re

import pytest
from playwright.sync_api import expect


def open_map(watched, **query):
    page = watched.open("overlap", catalog="Example", view="Map", **query)
    page.locator(".js-plotly-plot .nsewdrag").first.wait_for()
    return watched.settled()


def drag(page, *corners):
    """Draw through these places of the first panel, given in shares of it."""
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()


DOT = """plot => {
    const { xaxis, yaxis } = plot._fullLayout, trace = plot._fullData[0];
    const { x, y } = plot.getBoundingClientRect();
    const across = xaxis._offset + xaxis.l2p(trace.x[0]);
    return [x + across, y + yaxis._offset + yaxis.l2p(trace.y[0])];
}"""


def selected(page):
    """How many tools the page says are selected."""
    said = page.get_by_text(re.compile(r"^[\d,]+ tools selected$"))
    expect(said).to_be_visible()
    return int(said.text_content().split()[0].replace(",", ""))


def faint(page):
    """How many points are dimmed."""
    return page.locator(".js-plotly-plot .point").evaluate_all(
        "points => points.filter(p => getComputedStyle(p).opacity < 0.5).length"
    )


def test_a_lasso_selects_tools_which_are_proposed_and_taken_back(watched):
    page = open_map(watched, method="PCA")
    assert faint(page) == 0
    drag(page, (0.05, 0.05), (0.6, 0.05), (0.6, 0.6), (0.05, 0.6), (0.05, 0.06))
    count = selected(page)
    assert 1 < count < 60
    watched.settled()
    assert faint(page) > 0, "what is not selected is dimmed, in a figure drawn anew"
    page.reload()
    assert selected(page) == count, "the link says what is selected"
    watched.settled()
    page.get_by_role("button", name=re.compile("^Keep .+ apart$")).click()
    expect(page.get_by_text(f"Kept apart: {count} tools")).to_be_visible()
    page.locator('[class*="st-key-undo_batch_"] button').click()
    expect(page.get_by_text(re.compile("undone"))).to_be_visible()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.get_by_text(re.compile("tools selected$"))).to_have_count(0)


@pytest.mark.parametrize("mode", ["Lasso Select", "Box Select", "Pan"])
def test_a_click_on_a_dot_selects_it_whatever_dragging_does(watched, mode):
    page = open_map(watched, method="PCA")
    plot = page.locator(".js-plotly-plot").first
    plot.hover(position={"x": 5, "y": 5})
    plot.locator(f'.modebar-btn[data-title="{mode}"]').click(force=True)
    page.mouse.move(*plot.evaluate(DOT))
    page.locator(".js-plotly-plot .hoverlayer .hovertext").first.wait_for()
    page.mouse.down()
    page.mouse.up()
    expect(page.get_by_text("1 tool selected")).to_be_visible()
    nearest = page.get_by_text(re.compile("^Nearest to "))
    expect(nearest).to_contain_text(re.compile(r"· \S+ \(0\.\d\d\)"))
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.get_by_text("1 tool selected")).to_have_count(0)
