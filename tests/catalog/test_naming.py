"""Names of tools: told apart, and found in requests in whatever spelling."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.properties import examples
from toolscope_core.catalog.naming import (
    assign_ids,
    cited_identifiers,
    find_folded,
    find_repeats,
    identifier_keys,
    mentioned_names,
    source_names,
)
from toolscope_core.catalog.sources import Source
from toolscope_core.model.tool import Tool


def test_a_repeated_id_gets_the_fingerprint_and_exact_repeats_are_numbered_and_reported():
    tool, other = Tool("x", "x"), Tool("x", "x", "other")
    named = assign_ids([tool, other, tool, tool, Tool("y", "y")])
    stem = f"x~{tool.fingerprint[:6]}"
    ids = {stem, f"{stem}-2", f"{stem}-3", f"x~{other.fingerprint[:6]}", "y"}
    assert {item.id for item in named} == ids
    found = find_repeats(named)
    repeats = [(f"{stem}-2", "info", "exact-repeat"), (f"{stem}-3", "info", "exact-repeat")]
    assert [(item.tool_id, item.severity, item.code) for item in found] == repeats
    assert repr(stem) in found[0].message


@pytest.mark.case(79)
@pytest.mark.parametrize(
    ("others", "number"),
    [
        ([("w.s", "saw_get")], 2), ([("w_s", "saw.get")], 2), ([("w.s", "saw/get"), ("w s", "saw get")], 3),
        ([("w.s", "saw-get")], 0), ([("v.s", "saw_get")], 0), ([("w.s", "saw.get")], 0), ([("", "saw_get")], 0),
    ],
)  # fmt: skip
def test_names_that_a_client_writes_alike_are_a_finding(others, number):
    names = [("w.s", "saw.get"), *others]
    tools = [Tool(f"{n}", name, server=server) for n, (server, name) in enumerate(names)]
    findings = find_folded(tools)
    assert [(one.tool_id, one.severity) for one in findings] == [
        (f"{n}", "warn") for n in range(number)
    ]
    assert all("mcp__w_s__saw_get" in one.message for one in findings)


def test_a_suffix_never_takes_the_id_of_another_tool():
    a, b = Tool("x", "x", "one"), Tool("x", "x", "two")
    squatters = [Tool(f"x~{a.fingerprint[:n]}", "z") for n in range(6, 65)]
    named = assign_ids([a, b, *squatters])
    assert len({tool.id for tool in named}) == len(named)
    mine = {tool.id for tool in named if tool.name == "x"}
    assert mine == {f"x~~{a.fingerprint}", f"x~~{b.fingerprint}"}


def test_fingerprints_that_share_digits_get_more():
    def with_print(tool, digits):
        object.__setattr__(tool, "fingerprint", digits.ljust(64, "0"))
        return tool

    tools = [with_print(Tool("x", "x", d), d) for d in ("abcdef1", "abcdef2")]
    assert [tool.id for tool in assign_ids(tools)] == ["x~abcdef1", "x~abcdef2"]


IDS = st.sampled_from("xy")


@examples(50)
@given(st.lists(st.builds(Tool, IDS, st.just("n"), st.sampled_from("abc"))), st.randoms())
def test_ids_are_unique_sorted_and_free_of_order(tools, rng):
    named = assign_ids(tools)
    assert [tool.id for tool in named] == sorted({tool.id for tool in named})
    assert len(named) == len(tools)
    assert sorted(tool.fingerprint for tool in named) == sorted(tool.fingerprint for tool in tools)
    assert assign_ids(rng.sample(tools, len(tools))) == named
    assert assign_ids([replace(tool) for tool in named]) == named


def test_source_names():
    labels = ["a.json", "x/b.json", "y/b.json", "c.json", "c.jsonl", "d.json", "d.json", ""]
    names = source_names([Source(label, str(n).encode()) for n, label in enumerate(labels)])
    assert names[:5] == ("a", "x/b", "y/b", "c.json", "c.jsonl")
    assert names[5].startswith("d.json~")
    assert len(set(names)) == len(names)
    assert names[7].startswith("~")


# Names of tools in requests, in whatever spelling.


@pytest.mark.parametrize(
    "text",
    [
        "Use send_mail for this",
        "Use Send-Mail for this",
        "Please SEND MAIL to Ann",
        "call mail.send-mail now",
        "please send\u200b_mail",
        "please \uff53end_mail",
        "please s\u0435nd_mail",  # a Cyrillic letter
        "sendmail to Ann",
    ],
)
def test_a_name_of_several_words_is_found_in_any_spelling(text):
    assert mentioned_names(text, ["get_file", "send_mail"]) == ("send_mail",)


@pytest.mark.parametrize(
    "text", ["Send a mail to Ann", "mail send", "sendmails", "resend mail", "send to mail", ""]
)
def test_what_only_speaks_of_the_same_is_no_name(text):
    assert mentioned_names(text, ["send_mail", "", "__"]) == ()


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Translate this letter", False),
        ("Use `translate` on this letter", True),
        ("With the translate tool, do this letter", True),
        ("Ask the function translate", True),
        ("the tool 'Translate' does it", True),
        ("a tool to translate with", False),
    ],
)
def test_a_plain_word_counts_only_where_a_name_stands(text, is_named):
    assert bool(mentioned_names(text, ["translate"])) is is_named


def test_of_other_tools_only_identifiers_count():
    keys = identifier_keys(["send_mail", "alpha/get_file", "translate", "listFiles"])
    assert set(keys.values()) == {"send_mail", "alpha/get_file", "listFiles"}
    text = "Send mail, then `sendMail`, send-mail, alpha/get_file, list files and LIST_FILES."
    assert cited_identifiers(text, keys) == ("send_mail", "alpha/get_file", "listFiles")
    assert cited_identifiers("send mail and translate", keys) == ()
