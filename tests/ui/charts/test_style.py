import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.shared import pictures


@given(st.text(max_size=80))
def test_no_text_of_a_catalog_reaches_plotly_as_markup(text):
    shown = pictures.label(text)
    assert not set(shown) & set("<>$\n\r")
    assert "%{" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>x</b> & y", "&lt;b&gt;x&lt;/b&gt; &amp; y"),
        ("cost $x^2$", "cost &#36;x^2&#36;"),
        ("%{x}", "%&#123;x}"),
        ("two\n lines", "two lines"),
        ("a" * 60, "a" * 47 + "…"),
    ],
)
def test_a_label_shows_the_text_literally_on_one_short_line(text, shown):
    assert pictures.label(text) == shown


def test_text_is_cut_before_it_is_escaped_so_that_no_entity_is_broken():
    assert pictures.label("<" * 60, 5) == "&lt;" * 4 + "…"


def test_the_largest_servers_come_first_and_the_rest_together():
    servers = [name for count, name in enumerate("abcdefghijklmnop", 1) for _ in range(count)]
    groups = pictures.by_server(servers)
    assert [name for name, _ in groups[:3]] == ["p", "o", "n"]
    assert len(groups) == pictures.MOST_SERVERS + 1
    assert groups[-1][0] == "4 other servers"
    assert sorted(row for _, rows in groups for row in rows) == list(range(len(servers)))


def test_a_thirteenth_server_keeps_its_name_since_it_takes_no_more_room():
    groups = pictures.by_server([*"abcdefghijklm"])
    assert [name for name, _ in groups] == [*"abcdefghijklm"]
    assert pictures.look(12) == (pictures.GREY, "circle")


def test_servers_whose_cut_labels_are_equal_stay_two():
    groups = pictures.by_server(["x" * 40 + "1", "x" * 40 + "2", ""])
    assert [rows for _, rows in groups] == [[2], [0], [1]]
    assert groups[0][0] == "no server"
