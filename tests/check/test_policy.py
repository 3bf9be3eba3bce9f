"""What `.toolscope.yaml` may say, and what it does to a comparison."""

from dataclasses import replace
from datetime import date

import pytest

from tests.support.catalogs import accepting
from toolscope_core.check.baseline import Baseline, catalog_changes
from toolscope_core.check.change_kinds import CHANGE_KINDS, LEVELS
from toolscope_core.check.policy import Acceptance, Policy, read_policy
from toolscope_core.check.version_changes import change_counts, diff
from toolscope_core.model.catalog import Catalog, InputFile, Problem
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool

TODAY = date(2026, 11, 29)
ENTRY = "fingerprint: f0123456789a\n  reason: Unused.\n  author: mira\n"


def policy(tmp_path, text):
    (tmp_path / "p.yaml").write_text(text)
    return read_policy(tmp_path / "p.yaml", TODAY)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("level: {}", "level is unknown"),
        ("levels: {argument-gone: info}", "levels/argument-gone is unknown"),
        ("levels: {tool-removed: fine}", "breaking, careful or info"),
        ("levels: [info]", "keys"),
        ("- a", "the file is"),
        ("accept: {}\nversion-bump: maybe", "none, breaking or any"),
        ("accept: 7", "use a list"),
        (f"accept:\n- {ENTRY}", "accept/1/until is None"),
        (f"accept:\n- {ENTRY}  until: 2026-11-28", "has passed"),
        (f"accept:\n- {ENTRY}  until: soon", "write a date"),
        (f"accept:\n- {ENTRY}  until: 2026-11-30\n  team: x", "accept/1/team is unknown"),
        ("accept:\n- {fingerprint: 12, reason: a, author: b, until: 2027-01-01}", "is 12"),
        ("accept:\n- {fingerprint: abc, reason: a, author: b, until: 2027-01-01}", "copy it"),
        (f"accept:\n- {ENTRY}  until: 2027-01-01\n- {ENTRY}  until: 2027-01-01", "duplicate"),
        ("levels: {tool-added: info, tool-added: info}", "twice"),
        ("levels: [", "not YAML"),
        ("levels: {}\n---\nlevels: {}", "several documents"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(tmp_path, text, words):
    with pytest.raises(ConfigError, match=words):
        policy(tmp_path, text)


def test_an_acceptance_holds_to_the_end_of_its_last_day(tmp_path):
    accepted = policy(tmp_path, f"accept:\n- {ENTRY}  until: 2026-11-29").accepted
    assert accepted["f0123456789a"].until == TODAY
    assert policy(tmp_path, "# nothing\n") == Policy()


def test_a_file_that_is_named_must_be_there_and_the_usual_one_need_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_policy(None, TODAY) == Policy()
    (tmp_path / ".toolscope.yaml").write_text("version-bump: any")
    assert read_policy(None, TODAY).version_bump == "any"
    with pytest.raises(ConfigError, match="cannot read"):
        read_policy(tmp_path / "none.yaml", TODAY)


def test_the_table_gives_each_kind_a_level_a_reason_and_an_example():
    for name, kind in CHANGE_KINDS.items():
        assert kind.level in LEVELS and kind.name == name
        assert kind.effect and kind.reason.endswith(".") and kind.example


OLD = Tool("s/find", "find", "Find.", "s", accepting(a={"type": "string"}, b={"type": "string"}))


def versioned(tool_version="", **parts):
    raw = {"name": "find", "version": tool_version} if tool_version else {}
    return Tool(**{"id": "s/find", "name": "find", "description": "Find.", "server": "s",
                   "schema": OLD.schema, "raw": raw, **parts})  # fmt: skip


def of(tool, file_version="", label="a.json"):
    return Catalog((tool,), files=(InputFile(label, "mcp", 1, 0, "", file_version),))


LOSS = accepting(a={"type": "string"})


@pytest.mark.parametrize(
    ("before", "now", "asked", "missing"),
    [
        (of(versioned(), "1.9"), of(versioned(schema=LOSS), "1.9"), "breaking", ["b.json"]),
        (of(versioned(), "1.9"), of(versioned(schema=LOSS), "1.10"), "breaking", []),
        (of(versioned(), "1.0.0-rc.1"), of(versioned(schema=LOSS), "1.0.0"), "breaking", []),
        (of(versioned(), "1.0.0"), of(versioned(schema=LOSS), "1.0.0-rc.1"), "breaking", ["b.json"]),
        (of(versioned(), "2026-11-28"), of(versioned(schema=LOSS), "2026-11-29"), "breaking", []),
        (of(versioned(), "1.0"), of(versioned(schema=LOSS), "1.0.0"), "breaking", ["b.json"]),
        (of(versioned(), "1.9"), of(versioned(schema=LOSS), "1.9"), "none", []),
        (of(versioned(), "1.9"), of(versioned(description="Seek."), "1.9"), "breaking", []),
        (of(versioned(), "1.9"), of(versioned(description="Seek."), "1.9"), "any", ["b.json"]),
        (of(versioned(), "1.9"), of(versioned(), "1.9"), "any", []),
        (of(versioned()), of(versioned(schema=LOSS), "1.9"), "breaking", []),
        (of(versioned("3"), "1"), of(versioned("3", schema=LOSS), "2"), "breaking", ["s/find"]),
        (of(versioned("3"), "1"), of(versioned("4", schema=LOSS), "1"), "breaking", []),
    ],
)  # fmt: skip
def test_a_higher_version_is_asked_for_where_there_is_one(before, now, asked, missing):
    (file,) = now.files
    now = Catalog(now.tools, files=(InputFile("b.json", "mcp", 1, 0, "", file.version),))
    versions = {one.label: one.version for one in before.files if one.version}
    baseline = Baseline(before, versions=versions)
    changes = catalog_changes(baseline, now, Policy(version_bump=asked)).diff
    rows = [row for row in changes.rows if row.change.rule == "missing-version-bump"]
    assert [row.tool_id for row in rows] == missing
    assert all(row.breaking for row in rows)


def test_an_accepted_change_breaks_nobody_and_a_later_one_does():
    loss = replace(OLD, schema=LOSS)
    (row,) = diff(Catalog((OLD,)), Catalog((loss,))).rows
    accepted = Acceptance(row.fingerprint, "Unused.", "mira", TODAY)
    policy = Policy(accepted={row.fingerprint: accepted})
    (again,) = diff(Catalog((OLD,)), Catalog((loss,)), policy).rows
    assert row.breaking and not again.breaking and again.accepted == accepted
    other = replace(OLD, schema=accepting(b={"type": "string"}))
    assert diff(Catalog((OLD,)), Catalog((other,)), policy).breaking == 1


def test_a_record_that_cannot_be_read_is_not_clean_unless_it_is_the_same_on_both_sides():
    bad = Problem("a.json, record 2", "has no name", "{}")
    moved = Problem("b.json, record 3", "has no name", "{}")
    old, new = Catalog((OLD,), problems=(bad,)), Catalog((OLD,), problems=(moved,))
    assert diff(old, new).breaking == 0
    for found in (diff(Catalog((OLD,)), new), diff(old, Catalog((OLD,)))):
        assert found.breaking == 1 and "not compared" in change_counts(found)
    cut = "{" * 500
    long = [Catalog((OLD,), problems=(Problem(p, "is bad", cut),)) for p in ("a", "b")]
    assert diff(*long).breaking == 2, "what was cut may differ further on"
