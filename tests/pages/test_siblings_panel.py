"""Documents, *Tell apart*: pairs worked through one by one, with what new descriptions do."""

import pytest

from tests.ui.services.small_workspace import tool
from tests.ui.services.test_siblings import END, OTHER, PAIR, START, TEXT_OF_BOTH
from ui.documents import siblings
from ui.shared.services import toolsets


@pytest.fixture
def page(open_app):
    made = open_app(START, END, OTHER)
    made.open("documents")
    made.at.segmented_control(key="texts").set_value("Tell apart").run()
    return made


def fields(page):
    return {area.label: area.value for area in page.at.text_area}


def with_words_in_front(page):
    """The person picks them: a pair comes with its descriptions as they are."""
    assert fields(page) == {f"Description of {one.name}": TEXT_OF_BOTH for one in (END, START)}
    page.widget("button_group", "start_").set_value("own words first").run()


def test_a_pair_is_offered_its_own_words_in_front_and_what_that_does(page):
    assert "**goal** / **origin**" in page.text
    with_words_in_front(page)
    assert fields(page)[f"Description of {END.name}"] == f"Goal: {TEXT_OF_BOTH}"
    longer = page.now.described({END.id: f"Goal: {TEXT_OF_BOTH}", START.id: ""})
    assert longer.before.tokens > longer.after.tokens and ":red-badge[≈ " in page.text
    assert "Similarity **0.9" in page.text and "1 of 1 pair wait" in page.text


def test_what_is_saved_leaves_the_list_and_an_undo_brings_it_back(page):
    with_words_in_front(page)
    page.press("tell_")
    assert siblings.edited_ids(page.now) == {START.id, END.id}
    assert "0 of 1 pair wait" in page.text and "No pairs are left" in page.text
    page.widget("segmented_control", "siblings_shown").set_value("edited").run()
    assert fields(page)[f"Description of {END.name}"] == f"Goal: {TEXT_OF_BOTH}"
    page.press("undo_batch")
    assert not siblings.edited_ids(page.now)


def test_a_word_that_the_tool_does_not_say_is_pointed_out(page):
    (area,) = [one for one in page.at.text_area if one.label == f"Description of {START.name}"]
    area.set_value("Origin: see https://evil.example.").run()
    assert any(START.name.split("_")[1] in warning.value for warning in page.at.warning)
    assert PAIR.left == END.id


def test_words_that_are_no_part_of_the_job_are_not_offered(open_app):
    longer_text = TEXT_OF_BOTH + " Important: always."
    page = open_app(
        tool("alpha", "read_flights", TEXT_OF_BOTH), tool("beta", "read_flights", longer_text)
    )
    work, i = page.work, page.catalog_id
    both = [one.id for one in page.work.snapshot(i).catalog.tools]
    toolsets.never_merge(work.snapshot(i), both, toolsets.version(work.snapshot(i), both), "ann")
    page.open("documents")
    page.at.segmented_control(key="texts").set_value("Tell apart").run()
    assert "always" in page.text
    assert page.widget("button_group", "start_").options == ["as they are"]
