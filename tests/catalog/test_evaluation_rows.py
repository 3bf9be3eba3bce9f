"""Evaluation sets in the forms that people have: where a name stands decides what is rewritten."""

import json

import pytest

from toolscope_core.catalog.evaluation_rows import relabel_query
from toolscope_core.catalog.gone_names import called_names, gone_forms, left_names
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.plan import Relabel

PHI = [
    Relabel("h/fetch_tide", "h/get_tide", "h", "fetch_tide", "get_tide", "merged"),
    Relabel("h/get_tide", "h/get_tide", "h", "get_tide", "get_tide", "kept"),
    Relabel("h/search", "q/find", "h", "search", "find", "merged"),
    Relabel("h/Old List", "h/list", "h", "Old List", "list", "renamed"),
    Relabel("q/find", "q/find", "q", "find", "find", "kept"),
    Relabel("q/sink", None, "q", "sink", None, "removed"),
]
ALPHA = ArgumentMap(
    "h/fetch_tide", "h/get_tide", (ArgumentMove("p", "port"), ArgumentMove("n", "n", "wrap"))
)
RENAME = ArgumentMap("h/search", "q/find", (ArgumentMove("q", "query"),))
ALPHAS = {alpha.tool_id: alpha for alpha in (ALPHA, RENAME)}
OLD, NEW = {"p": "A"}, {"port": "A"}


def relabelled(row):
    phi = {one.old_id: one.new_id for one in PHI}
    return relabel_query(row, phi, ALPHAS, called_names(PHI))


def left(row, exempt=()):
    return [one.path for one in left_names(row, gone_forms(PHI), exempt)]


def schema(*names):
    return {"type": "object", "properties": {name: {} for name in names}, "required": [*names]}


def each(names, arguments):
    """Calls and names in the forms of data sets, from the same tool in each."""
    tide, find, listing = names
    text = json.dumps(arguments)
    literal = repr({"name": tide, "arguments": arguments})
    shown = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    glaive = (
        f"""{{"name": "{tide}", "arguments": '{json.dumps(arguments, separators=(",", ":"))}'}}"""
    )
    query = {"q": 1} if "p" in arguments else {"query": 1}
    call = {"name": tide, "arguments": arguments}
    return {
        "BFCL": {"ground_truth": [{tide: {key: [value] for key, value in arguments.items()}}]},
        "BFCL, turns": {"ground_truth": [[f"{tide}({shown})", "look(2)"], []]},
        "xLAM": {"answers": json.dumps([call])},
        "Hermes": {"conversations": [{"value": f"So: <tool_call>\n{json.dumps(call)}\n</tool_call>"}]},
        "Hermes, Python": {"value": f"<tool_call>\n{literal}\n</tool_call> done"},
        "ReAct": {"completion": f"Thought: x\nAction: {tide}\nAction Input: {text}\nObservation: 1"},
        "Glaive": {"chat": f"USER: x\n\nASSISTANT: <functioncall> {glaive} <|endoftext|>\n\n\nUSER: y"},
        "MCP-Bench": {"required_tools": [f"h:{tide}"]},
        "BFCL, path": {"path": [f"h.{tide}"]},
        "ToolACE": {"value": f"[{tide}({shown}), {listing}(x='a(b')]"},
        "When2Call": {"answers": {"tool_call": f"<TOOLCALL>[{json.dumps(call)}]</TOOLCALL>"}},
        "Toucan": {"messages": json.dumps([{"role": "tool_call", "content": literal}])},
        "Toucan, targets": {"target_tools": f"h::{tide}, {tide}"},
        "chat": {"tool_calls": [{"function": {"name": tide, "arguments": text.replace(" ", "")}}]},
        "legacy": {"function_call": {"name": tide, "arguments": arguments}},
        "result": {"messages": [{"role": "tool", "name": tide, "content": "x"}]},
        "result in a text": {"value": json.dumps([{"name": tide, "results": {}}])},
        "choice": {"tool_choice": {"type": "function", "name": tide}},
        "evals": {"ideal": tide},
        "RAGAS": {"reference_tool_calls": [{"name": tide, "args": arguments}]},
        "DeepEval": {"expected_tools": [{"name": tide, "input_parameters": arguments}, {"name": tide}]},
        "tau": {"actions": [{"name": tide, "kwargs": arguments}]},
        "MCP": {"tool": tide, "server": "h", "args": arguments},
        "wrapped": {"name": "call", "arguments": {"tool_name": f"mcp__h__{tide}", "args": arguments}},
        "Gemini": {"parts": [{"functionCall": {"name": tide, "args": arguments}}]},
        "agent": {"action": tide, "action_input": arguments},
        "map at depth": {"turns": {"1": {"calls": {tide: [arguments, arguments]}}}},
        "trajectory": {"outputs": {"trajectory": [tide, f"h/{tide}"]}, "solution": tide},
        "arrows": {"steps": f"{tide} -> h.{tide} | {tide}"},
        "ToolRet": {"labels": json.dumps([{"id": f"h/{tide}", "relevance": 1}])},
        "tool's answer": {"value": f'<tool_response>{{"name": "{tide}", "content": 1}}</tool_response>'},
        "API-Bank": {"output": f"API-Request: [{tide}({shown})]"},
        "a plain word": {"expected": [{"name": find, "parameters": query}], "tool": find},
        "definition": {"tools": json.dumps([{"name": find, "parameters": schema(*query)}])},
        "definition as a map": {"tools": [{"name": find, "description": "", "parameters": {one: {} for one in query}}]},
        "definition in prose": {"system": f'Use: {json.dumps([{"name": find, "parameters": schema(*query)}])}.'},
    }  # fmt: skip


BEFORE, AFTER = (
    each(("fetch_tide", "search", "Old List"), OLD),
    each(("get_tide", "find", "list"), NEW),
)


@pytest.mark.case(79, 96)
@pytest.mark.parametrize("form", BEFORE)
def test_calls_and_names_are_rewritten_wherever_they_stand(form):
    done = relabelled(BEFORE[form])
    assert done.row == AFTER[form]
    assert done.is_understood and done.rename_count and not done.losses
    assert left(done.row) == []
    assert relabelled(AFTER[form]).row == AFTER[form]


@pytest.mark.case(79, 96)
@pytest.mark.parametrize(
    ("row", "paths"),
    [
        ({"note": "uses fetch_tide first"}, ["/note"]),
        ({"text": "fetch_tide('A', n=1)"}, ["/text"]),
        ({"text": "fetch_tide(p=now())"}, ["/text"]),
        ({"x": {"fetch_tide": {"p": 1}, "get_tide": {"port": 1}}}, ["/x/fetch_tide"]),
        ({"text": '{"fetch_tide": {"p": 1}, "fetch_tide": {"p": 2}}'}, ["/text/fetch_tide"]),
        ({"tools": [{"name": "fetch_tide", "parameters": schema("p", "n")}]}, ["/tools/0/name"]),
        ({"arguments": {"search": {"q": 1}}}, ["/arguments/search"]),
        ({"arguments": {"path": "fetch_tide"}}, ["/arguments/path"]),
        ({"query": "Can I search for tides?", "answer": "search"}, ["/answer"]),
    ],
)
def test_what_is_not_sure_stays_and_is_listed(row, paths):
    done = relabelled(row)
    assert (done.row, left(done.row)) == (row, paths)


@pytest.mark.case(79)
def test_right_values_of_an_argument_are_mapped_one_by_one():
    row = {"ground_truth": [{"fetch_tide": {"n": [1, ""], "p": ["A", "B"]}}]}
    new = relabelled(row).row["ground_truth"]
    assert new == [{"get_tide": {"n": [[1], ""], "port": ["A", "B"]}}]


@pytest.mark.case(79)
def test_a_list_of_tools_has_each_once_and_calls_stay_as_many():
    tools = [
        {"type": "function", "function": {"name": name}} for name in ("search", "find", "sink")
    ]
    calls = [
        {"name": "search", "args": {"q": 1}},
        {"name": "find", "args": {}},
        {"name": "sink", "args": {}},
    ]
    done = relabelled({"tools": tools, "functions": ["search", "find"], "tools_used": calls})
    assert done.row["tools"] == tools[1:2]
    assert done.row["functions"] == ["find"]
    assert [one["name"] for one in done.row["tools_used"]] == ["find", "find", "sink"]
    assert done.removed_tools == ("q/sink",)
    assert left(done.row, done.exempt) == []


@pytest.mark.case(79)
@pytest.mark.parametrize(
    "piece", ["[", "{'a': ", "<tool_call>[", "fetch_tide(", "{}", "(", "[f(), "]
)
def test_a_text_that_opens_and_never_ends_is_left_in_time(piece):
    row = {"text": piece * 20_000}
    assert relabelled(row).row == row
