"""Profiles by command: made from requests, shown, exported and checked."""

import json

import pytest

from tests.cli.test_cli import run
from tests.profiles.shelf import ATTIC, CELLAR, DELETE, GET, MAIL, READ
from tests.support.json_files import write_json, write_lines
from tests.support.replies import planning, served

ASKED = [
    {"query": "Send a mail to Ann", "gold": [MAIL]},
    {"query": "Show me the file a.txt", "gold": [[READ, GET]]},
    {"query": "Water the plants", "gold": ["garden/water"]},
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(tmp_path / "tools.json", servers(ATTIC))
    write_lines(tmp_path / "asked.jsonl", *ASKED)
    make = ("--name", "reader", "--queries", "asked.jsonl", "--out", "d.jsonl", "--accept", "none")
    return run("profile", "tools.json", *make).stdout


def servers(attic):
    return {"servers": [{"name": "attic", "tools": attic}, {"name": "cellar", "tools": CELLAR}]}


def test_a_profile_is_made_from_requests_and_shown(here):
    assert f"  2  {MAIL}: 2 served, 86 tokens" in here
    assert "tools for 2 of 3 requests" in here
    assert "not served: Water the plants" in here
    assert "recall@1: whole toolset" in here
    listed = run("profile", "tools.json", "--decisions", "d.jsonl").stdout
    assert listed.splitlines()[0] == "profiles: reader" and "\nreader: 2 tools, " in listed
    shown = run("profile", "tools.json", "--decisions", "d.jsonl", "--name", "reader").stdout
    assert f"  {MAIL} as send_mail" in shown
    missing = run("profile", "tools.json", "--decisions", "d.jsonl", "--name", "writer", code=2)
    assert "'writer'" in missing.stderr and "are: reader" in missing.stderr
    assert "--name" in run("profile", "tools.json", "--queries", "asked.jsonl", code=2).stderr


def test_a_profile_names_the_resources_and_prompts_that_it_passes_on(here, tmp_path):
    of = ("profile", "tools.json", "--decisions", "d.jsonl", "--accept", "none")
    named = ("--resource", "attic+file:///a", "--resource", "attic+file:///{b}")
    made = run(*of, "--name", "reader", *named, "--prompt", "cellar+greet", "--out", "d.jsonl")
    assert "passes on attic+file:///{b}" in made.stdout and f"  {MAIL} as send_mail" in made.stdout
    run(*of, "--name", "reader", "--resource", "attic+file:///c", "--out", "d.jsonl")
    run("merge", "tools.json", "--decisions", "d.jsonl", "--accept", "none", "--out", "bundle")
    (profile,) = json.loads((tmp_path / "bundle/profiles.json").read_text())["profiles"]
    assert profile["resources"] == ["attic+file:///c"], "in place of those before"
    assert profile["prompts"] == ["cellar+greet"] and len(profile["tools"]) == 2
    assert "--name" in run(*of, "--prompt", "cellar+greet", code=2).stderr
    missing = run(*of, "--name", "writer", "--prompt", "cellar+greet", code=2)
    assert "are: reader" in missing.stderr


def test_a_model_plans_what_the_people_in_a_transcript_asked_for(here, model_server, tmp_path):
    asked = [
        {"role": "user", "content": "Tell Ann about it"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "send_mail"}}]},
    ]
    write_json(tmp_path / "talk.json", {"messages": asked})
    make = ("profile", "tools.json", "--accept", "none", "--name", "own", "--intents", "talk.json")
    called = run(*make).stdout
    assert f"  1  {MAIL}: 1 served" in called and "not served" not in called

    def calls(_, tools):
        place = next(at for at, text in tools.items() if "Delete a file" in text)
        return [{"tool": place, "arguments": []}]

    model_server.answer = served(planning(calls))
    assert f"  1  {DELETE}: 1 served" in run(*make, "--by", "model").stdout
    asked[1]["tool_calls"][0]["function"]["name"] = "dance"
    write_json(tmp_path / "talk.json", {"messages": asked})
    assert "talk.json has no request" in run(*make, code=2).stderr


def test_a_bundle_has_the_profile_and_a_check_holds_it_to_its_limits(here, tmp_path):
    run("merge", "tools.json", "--decisions", "d.jsonl", "--accept", "none", "--out", "bundle")
    (profile,) = json.loads((tmp_path / "bundle/profiles.json").read_text())["profiles"]
    assert MAIL in [one["id"] for one in profile["tools"]]
    compare = ("check", "tools.json", "--baseline", "bundle", "--profile", "reader")
    cases = ("--cases", "asked.jsonl", "--profile-limit")
    assert "profile reader: 2 tools" in run(*compare, *cases, "unserved=1").stdout
    limits = ("unserved=0", "--profile-limit", "tools=1")
    broken = run(*compare, *cases, *limits, "--junit", "j.xml", code=1)
    assert "1 unserved request, at most 0" in broken.stderr
    assert "reader: 2 tools, at most 1" in broken.stderr
    assert "does not serve a request" in broken.stdout
    assert "Water the plants" in (tmp_path / "j.xml").read_text()
    write_json(tmp_path / "tools.json", {"servers": [{"name": "attic", "tools": ATTIC}]})
    gone = run(*compare, "--fail-on", "profile", code=1)
    assert f"{MAIL} is gone" in gone.stdout
    assert "has no profile 'x'; it has reader" in run(*compare[:-1], "x", code=2).stderr
    assert "add --profile" in run(*compare[:4], "--profile-limit", "tools=1", code=2).stderr
    assert "add --cases" in run(*compare, "--profile-limit", "misses=0", code=2).stderr
    assert "one of tokens" in run(*compare, "--profile-limit", "x", code=2).stderr
    toolset = tmp_path / "bundle/profiles/reader/toolset.json"
    assert DELETE not in toolset.read_text()
