"""Prompts, skills and rules that still name a tool which a merge, a rename or a choice took away."""

import errno
import os

import pytest

from toolscope_core.catalog.gone_names import gone_names
from toolscope_core.check import text_mentions
from toolscope_core.check.text_mentions import TextMention, mentions_in, search_below
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import Relabel

ROWS = (
    Relabel("a/get_crate", "a/fetch_crate", "a", "get_crate", "fetch_crate", "merged"),
    Relabel("a/weigh", None, "a", "weigh", None, "removed"),
    Relabel("b.c/send_mail", None, "b.c", "send_mail", None, "removed"),
    Relabel("d/stay", "d/stay", "d", "stay", "stay", "kept"),
)
GONE = gone_names(ROWS, {"fetch_crate", "send_mail", "stay"})

PLACES = {"folder": (os, "scandir"), "file.md": (text_mentions, "read_file")}
REAL = {name: getattr(*place) for name, place in PLACES.items()}


def names_in(text):
    return [(one.line, one.name, one.new_name) for one in mentions_in("p.md", text, GONE)]


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Call get_crate first.", [(1, "get_crate", "fetch_crate")]),
        ("x\n- `get_crate(crate)`\n- a/get_crate.", [(2, "get_crate", "fetch_crate"),
                                                     (3, "get_crate", "fetch_crate")]),
        ("allowed: mcp__a__get_crate", [(1, "mcp__a__get_crate", "a/fetch_crate")]),
        ("Use mcp__b_c__send_mail.", [(1, "mcp__b_c__send_mail", "")]),
        ("Weigh it, then weigh again.", []),
        ("Use `weigh`, or weigh().", [(1, "weigh", "")]),
        ("forget_crate, get_crates and do_get_crate are others; send_mail and stay remain.", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_name_counts_where_it_can_be_nothing_else(text, mentions):
    assert names_in(text) == mentions


def test_two_tools_of_one_name_may_have_become_two():
    other = Relabel("z/get_crate", "z/find_crate", "z", "get_crate", "find_crate", "renamed")
    assert gone_names((*ROWS, other), ()).new_names["get_crate"] == "fetch_crate or find_crate"


def test_folders_are_searched_in_order_and_what_is_no_text_is_not(tmp_path, monkeypatch):
    skills = tmp_path / "skills" / "crates"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_text("Read.\nRun get_crate.\n")
    (tmp_path / ".cursorrules").write_text("Never get_crate.")
    (tmp_path / "CLAUDE").write_bytes(b"get_crate \xff")
    for name in ("picture.png", "node_modules/x.md", ".git/x.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("get_crate")
    (tmp_path / "link.md").symlink_to(skills / "SKILL.md")
    mentions = search_below([tmp_path], GONE).mentions
    places = [(one.file.removeprefix(f"{tmp_path}/"), one.line) for one in mentions]
    assert places == [(".cursorrules", 1), ("CLAUDE", 1), ("skills/crates/SKILL.md", 2)]
    file = skills / "SKILL.md"
    assert search_below([file], GONE).mentions == (
        TextMention(str(file), 2, "get_crate", "fetch_crate"),
    )
    with pytest.raises(ConfigError, match="not a folder"):
        search_below([tmp_path / "none"], GONE)
    monkeypatch.setattr(text_mentions, "MOST_FILES", 1)
    with pytest.raises(ConfigError, match="3 text files"):
        search_below([tmp_path], GONE)


@pytest.mark.case(92)
def test_what_was_not_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(text_mentions, "LARGEST", 20)
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.md").write_text("get_crate")
    (folder / "b.md").write_text(" " * 21 + "get_crate")
    (folder / "c.md").write_text("get_crate", "utf-16")
    (folder / "d.md").write_bytes(b"get_crate \xe4")
    (tmp_path / "e.md").write_text("get_crate")
    (folder / "e.md").symlink_to(tmp_path / "e.md")
    (folder / "f").symlink_to(tmp_path)
    (folder / "g.md").symlink_to(folder / "a.md")
    os.mkfifo(folder / "h.md")
    search = search_below([folder], GONE)
    assert [one.file.rpartition("/")[2] for one in search.mentions] == ["a.md", "c.md", "d.md"]
    assert [one.file.rpartition("/")[2] for one in search.unread] == [
        "b.md", "c.md", "d.md", "h.md", "e.md", "f"
    ]  # fmt: skip


@pytest.mark.case(92)
@pytest.mark.parametrize("name", ["folder", "file.md"])
def test_what_may_not_be_read_is_named(tmp_path, monkeypatch, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.md").write_text("get_crate")

    def refuse(path, *_):
        if str(path).endswith(name):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return REAL[name](path)

    monkeypatch.setattr(*PLACES[name], refuse)
    (unread,) = search_below([tmp_path], GONE).unread
    assert unread.file == str(tmp_path / name) and "Permission denied" in unread.why
