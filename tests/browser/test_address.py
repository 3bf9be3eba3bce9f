"""The address in Chromium: it always names its catalog, and Back is one step a page."""

from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.test_hostile_catalog import PROPOSALS


def go(watched, name):
    watched.page.get_by_role("link", name=name, exact=True).click()
    expect(watched.page.locator("h1")).to_have_text(name)
    return watched.settled()


def test_every_page_names_its_catalog_and_back_is_one_press(watched):
    page = watched.open("")
    expect(page.get_by_text(PROPOSALS).first).to_be_visible()
    seen = [watched.settled().url]
    for name in ("Review", "History"):
        seen.append(go(watched, name).url)
    assert all("catalog=Example" in url for url in seen)
    assert "cluster=" in seen[1], "what a page writes into the address by itself is no step"
    for name, url in zip(("Review", "Catalog"), seen[1::-1], strict=True):
        page.go_back()
        expect(page.locator("h1")).to_have_text(name)
        assert urlsplit(watched.settled().url).path == urlsplit(url).path
        assert "catalog=Example" in page.url


def test_what_a_person_does_on_a_page_is_a_step_and_a_reload_keeps_the_name(watched):
    page = watched.open("review", catalog="Example")
    first = page.url
    page.locator("h1").click()
    page.keyboard.press("j")
    expect(page).not_to_have_url(first)
    watched.settled()
    page.go_back()
    expect(page).to_have_url(first)
    watched.settled()
    page.get_by_label("Your name").fill("Zoë; <b>B</b>")
    page.keyboard.press("Enter")
    watched.settled()
    page.reload()
    expect(page.get_by_label("Your name")).to_have_value("Zoë; <b>B</b>")
    page.goto(f"{watched.url}/history")
    expect(page.get_by_label("Your name")).to_have_value("Zoë; <b>B</b>")
