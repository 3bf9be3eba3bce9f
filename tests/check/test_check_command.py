"""`toolscope check` as CI calls it: exit status, what it prints, what it writes."""

import json
import re
from dataclasses import replace
from shutil import copytree
from xml.etree import ElementTree as ET

import pytest

from tests.check.compared_bundle import ACCEPTED, BEFORE, MAIL, on, write_bundle, write_catalog
from tests.cli.test_cli import run
from tests.support.fakes import WordEmbedder
from tests.support.printed import figures
from tests.ui.services.small_workspace import SUM, catalog, tool
from toolscope_core.check.change_kinds import CHANGE_KINDS
from toolscope_core.cli import check_command
from toolscope_core.llm import embedding

NEW = on("gamma", MAIL)


@pytest.fixture(autouse=True)
def _words(monkeypatch):
    monkeypatch.setattr(embedding, "embedder_of", lambda *_: WordEmbedder())


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """The bundle that catalogs are compared with."""
    place = tmp_path_factory.mktemp("accepted")
    return write_bundle(place / "bundle", place, ACCEPTED)


@pytest.fixture
def here(accepted, tmp_path, monkeypatch):
    """A folder with a copy of the bundle and a catalog that has one tool more."""
    monkeypatch.chdir(tmp_path)
    copytree(accepted, tmp_path / "bundle")
    write_catalog(tmp_path / "tools.json", *BEFORE.tools, NEW)
    return tmp_path


def check(*more, code=0):
    """Compares the catalog with the bundle."""
    return run("check", "tools.json", "--baseline", "bundle", *more, code=code)


def test_without_limits_everything_is_told_and_nothing_fails(here):
    done = check()
    first, pair, *_ = done.stdout.splitlines()
    assert first == "6 tools; 1 added; none breaking"
    assert pair.split()[:3] == ["overlap", "gamma/send_mail,", "alpha/send_mail:"]
    assert "probability 1" in pair
    (address,) = re.findall(r"http://localhost:8501/\S+", done.stdout)
    assert "/overlap?catalog=tools&pair=" in address
    assert "--fail-on" in done.stdout


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--max-new-overlaps", 0), "1 new overlap, at most 0 allowed"),
        (("--max-new-overlaps", 1), ""),
        (("--max-tokens", 10), "at most 10 allowed"),
        (("--max-growth", "0"), "at most 0 tokens more allowed"),
        (("--fail-on", "overlap", "--fail-on", "stale"), "1 new overlap"),
        (("--fail-on", "breaking"), ""),
    ],
)
def test_a_limit_that_is_not_kept_ends_with_1(here, options, reason):
    done = check(*options, code=int(bool(reason)))
    assert reason in done.stderr and bool(done.stderr) == bool(reason)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("missing.json", "--baseline", "bundle"), "cannot read"),
        (("tools.json", "--baseline", "missing"), "cannot read"),
        (("tools.json", "--baseline", "bundle", "--max-tokens", -1), "--max-tokens is -1"),
        (("tools.json", "--baseline", "bundle", "--max-growth", "much"), "is 'much'; use tokens"),
        (("tools.json", "--baseline", "bundle", "--app-url", "here"), "cannot be used"),
        (("tools.json", "--baseline", "bundle", "--summary", "bundle"), "with --summary"),
    ],
)
def test_what_the_user_can_mend_ends_with_2(here, arguments, words):
    assert words in run("check", *arguments, code=2).stderr


@pytest.mark.case(92)
def test_texts_that_name_a_tool_that_is_gone_are_told_with_line_and_new_name(here):
    (here / "skills").mkdir()
    renamed = "mcp__beta__send_mail"
    text = f"Do.\nThen `old_sum`, or {renamed}.\nsend_mail stays.\n"
    (here / "skills" / "SKILL.md").write_text(text)
    old = replace(SUM, id="alpha/old_sum", name="old_sum")
    write_bundle(here / "bundle", here, ACCEPTED, before=catalog(*BEFORE.tools, old))
    done = check("--texts", "skills", "--sarif", "r.sarif", "--fail-on", "text", code=1)
    assert "text     skills/SKILL.md:2: " in done.stdout
    assert "old_sum is gone" in done.stdout
    assert re.search(rf"{renamed} .*alpha/send_mail", done.stdout)
    assert "2 lines of texts" in done.stderr
    assert "skills/SKILL.md" in (here / "r.sarif").read_text()
    assert "not a folder" in check("--texts", "none", code=2).stderr
    (here / "skills" / "SKILL.md").write_text("send_mail", "utf-16")
    done = check("--texts", "skills", "--fail-on", "unread", code=1)
    assert re.search(r"unread +skills/SKILL\.md: .*UTF-8", done.stdout)


def test_cases_fail_where_another_tool_is_found_than_before(here):
    near = tool("gamma", "mail_sum", "Send a mail.", **SUM.schema["properties"])
    write_catalog(here / "tools.json", *BEFORE.tools, near)
    (here / "cases.jsonl").write_text(
        '{"id": "1", "query": "Send a mail", "gold": [["alpha/send_mail", "beta/send_mail"]]}\n'
        '{"id": "2", "query": "Add up numbers", "gold": ["alpha/get_weather"]}\n'
        '{"id": "3", "query": "Send a mail sum", "gold": [], "forbidden": ["gamma/mail_sum"]}\n'
    )
    options = ("--cases", "cases.jsonl", "--max-new-confusions")
    done = check(*options, 1, "--junit", "j.xml", code=1)
    assert figures(done.stdout, "cases replayed") == [3, 3, 2]
    assert "2 new confusions, at most 1" in done.stderr
    asked, forbidden = re.findall(r"confusion (\S.*?): (.*(?:\n .*)*)", done.stdout)
    assert asked[0] == f"{MAIL.id}, {near.id}"
    assert f"{MAIL.id} or beta/{MAIL.name}" in asked[1]
    assert forbidden[0] == near.id and "forbids" in forbidden[1]
    assert ET.parse(here / "j.xml").getroot().get("failures") == "2"
    check(*options, 2)
    same = run("check", "bundle", "--baseline", "bundle", "--cases", "cases.jsonl")
    assert figures(same.stdout, "cases replayed") == [3, 1, 0]
    assert "add --cases" in check("--max-new-confusions", 1, code=2).stderr


def test_the_reports_are_written_and_equal_each_time(here):
    def written():
        options = ("--summary", "out/s.md", "--junit", "out/j.xml", "--sarif", "out/r.sarif")
        app = ("--app-url", "https://tools.example", "--app-catalog", "X")
        limit = ("--max-new-overlaps", 0)
        check(*options, *limit, *app, code=1)
        return {path.name: path.read_bytes() for path in (here / "out").iterdir()}

    first = written()
    assert first == written()
    assert b"## Tool catalog: the check fails" in first["s.md"]
    assert b"https://tools.example/overlap?catalog=X&pair=" in first["s.md"]
    assert ET.fromstring(first["j.xml"]).get("failures") == "1"
    (result,) = json.loads(first["r.sarif"])["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    line = place["region"]["startLine"]
    assert place["artifactLocation"]["uri"] == "tools.json"
    text = (here / "tools.json").read_text("utf-8").splitlines()
    assert '"name": "send_mail"' in text[line - 1] and '"gamma"' in text[line - 2]


def test_a_record_that_cannot_be_read_is_told(here):
    records = json.loads((here / "tools.json").read_text("utf-8"))
    (here / "tools.json").write_text(json.dumps([*records, {"name": 7}]), "utf-8")
    failed = check("--fail-on", "problem", code=1)
    assert "cannot be read" in failed.stdout.splitlines()[1]
    assert "1 record that cannot be read" in failed.stderr
    doubt = check("--fail-on", "breaking", code=1)
    assert "could not be compared" in doubt.stderr, "what was not compared never looks clean"
    (here / ".toolscope.yaml").write_text("levels: {not-compared: info}\n")
    check("--fail-on", "breaking")


CLOSED = "additionalProperties"


@pytest.fixture
def closed(here):
    """A catalog in which one tool lost an argument and another one takes no more than declared."""
    shorter = replace(SUM, schema={**SUM.schema, "properties": {}})
    narrower = replace(MAIL, schema={**MAIL.schema, CLOSED: False})
    others = [one for one in BEFORE.tools if one.id not in (SUM.id, MAIL.id)]
    write_catalog(here / "tools.json", *others, shorter, narrower)
    return here


def fingerprints(done):
    return re.findall(r"^(breaking|careful) .*\[(f[0-9a-f]{11})\]$", done.stdout, re.MULTILINE)


def test_a_team_sets_levels_and_accepts_one_finding_until_a_day(closed):
    (kind, _), *others = found = fingerprints(check("--fail-on", "careful", code=1))
    assert kind == "breaking" and others[-1][0] == "careful"
    policy = closed / ".toolscope.yaml"
    policy.write_text("levels:\n  argument-removed: info\n  argument-required: info\n")
    check("--fail-on", "breaking")
    rows = "".join(
        f"- {{fingerprint: {name}, reason: unused, author: mira, until: 2999-01-01}}\n"
        for kind, name in found
    )
    policy.write_text(f"accept:\n{rows}")
    done = check("--fail-on", "breaking", "--fail-on", "careful", "--summary", "s.md")
    assert done.stdout.count("(mira, until 2999-01-01)") == len(found)
    assert "no longer matches" not in done.stdout
    assert f"{len(found)} accepted" in (closed / "s.md").read_text()
    write_catalog(closed / "tools.json", *BEFORE.tools)
    assert check().stdout.count("no longer matches") == len(found)
    policy.rename(closed / "other.yaml")
    old = write_catalog(closed / "old.json", *BEFORE.tools)
    new = write_catalog(closed / "new.json", *BEFORE.tools[1:])
    run("diff", old, new, code=1)
    levels = "levels: {tool-removed: info}"
    (closed / "other.yaml").write_text(levels)
    run("diff", old, new, "--config", "other.yaml")


def commands(path):
    """Level, line and message of each annotation."""
    found = re.findall(r"::(\w+) file=tools.json,line=(\d+),[^:]*::(.*)", path.read_text())
    return [(level, int(line), message) for level, line, message in found]


def test_annotations_stand_at_the_line_of_what_changed(closed):
    check("--annotations", "a.txt", "--fail-on", "breaking", code=1)
    text = (closed / "tools.json").read_text().splitlines()
    lines = {
        message.split(": ")[0]: text[at - 1].strip()
        for level, at, message in commands(closed / "a.txt")
        if level != "notice" and ", " not in message.split(": ")[0]
    }
    assert lines == {SUM.id: '"properties": {},', MAIL.id: f'"{CLOSED}": false'}
    write_catalog(closed / "tools.json", *(one for one in BEFORE.tools if one.id != SUM.id))
    check("--annotations", "a.txt", "--fail-on", "breaking", code=1)
    text = (closed / "tools.json").read_text().splitlines()
    ((_, at, _),) = [one for one in commands(closed / "a.txt") if one[0] == "error"]
    assert '"name"' in text[at - 1], "a tool that is gone stands at its neighbour"


def test_what_can_be_mended_without_thinking_is_suggested(here):
    old = replace(SUM, id="beta/old_sum", name="old_sum")
    before = catalog(*(one for one in BEFORE.tools if one.id != SUM.id), old)
    write_bundle(here / "bundle", here, ACCEPTED, before=before)
    citing = tool("gamma", "help", "Then `old_sum` it.\u200b Done with old_sum2.")
    write_catalog(here / "tools.json", *BEFORE.tools, citing)
    (here / "skills").mkdir()
    (here / "skills" / "SKILL.md").write_text("Do.\nThen ```old_sum```.\n")
    check("--texts", "skills", "--suggestions", "s.jsonl")
    rows = [json.loads(line) for line in (here / "s.jsonl").read_text().splitlines()]
    assert [row["path"] for row in rows] == ["tools.json", "skills/SKILL.md"]
    in_catalog, in_text = (row["body"] for row in rows)
    (new,) = re.findall(r"^```suggestion\n(.*)\n```$", in_catalog, re.MULTILINE)
    assert new.strip() == '"description": "Then `add_numbers` it. Done with old_sum2.",'
    assert in_text.endswith("\n````suggestion\nThen ```add_numbers```.\n````")
    line = (here / "tools.json").read_text().splitlines()[rows[0]["line"] - 1]
    assert "old_sum2" in line and rows[1]["line"] == 2
    for row, line in zip(rows, (here / "s.jsonl").read_text().splitlines(), strict=True):
        mark = row["body"].split("\n")[0]
        assert re.fullmatch("<!-- toolscope [0-9a-f]{12} -->", mark) and line[10:41] == mark


def test_the_kinds_of_changes_are_listed_without_a_catalog():
    done = run("check", "--list-rules")
    assert all(name in done.stdout for name in CHANGE_KINDS)


def test_the_threshold_is_the_one_given_else_that_of_a_bundle_of_the_same_model(here, monkeypatch):
    seen = []
    compare = check_command.compare

    def watched(catalog, baseline, judge, policy):
        seen.append(judge.config.threshold)
        return compare(catalog, baseline, judge, policy)

    monkeypatch.setattr(check_command, "compare", watched)
    check()
    check("--threshold", 0.9)
    run("check", "tools.json", "--baseline", "tools.json")
    assert seen == [0.4, 0.9, None]


def test_names_reach_the_terminal_escaped(here):
    write_catalog(here / "tools.json", *BEFORE.tools, on("\x1b[2J", MAIL))
    done = check()
    assert "\x1b" not in done.output and "⟨U+001B⟩" in done.output
