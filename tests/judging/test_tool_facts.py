import numpy as np

from tests.judging.test_judge import judged
from toolscope_core.judging.judge import general_tools
from toolscope_core.judging.weights import shipped_weights
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}


def tool(tool_id, name, description, required=(), server="s", **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(tool_id, name, description, server, schema)


LANGUAGES = {"type": "string", "enum": ["French", "German", "Latin"]}
GENERAL = tool(
    "t", "translate", "Translate a text.", ["text", "language"], text=TEXT, language=LANGUAGES
)
FRENCH = tool("f", "translate_to_french", "Put a text into French.", ["text"], text=TEXT)
GERMAN = tool("g", "translate_german", "A text, in German.", ["text"], text=TEXT)


def test_instances_of_a_general_tool_are_found_in_any_order():
    for tools in ([GENERAL, FRENCH, GERMAN], [GERMAN, FRENCH, GENERAL]):
        assert general_tools(tools) == {"f": "t", "g": "t"}


def test_another_server_another_value_or_a_lost_argument_is_no_instance():
    others = [
        tool("1", "translate_to_french", "x", ["text"], "elsewhere", text=TEXT),
        tool("2", "translate_to_welsh", "x", ["text"], text=TEXT),
        tool("3", "translate_to_french", "x", ["text"], text=TEXT, formal={"type": "boolean"}),
        tool("4", "speak_french", "x", ["text"], text=TEXT),
    ]
    assert general_tools([GENERAL, *others]) == {}


def test_a_family_is_judged_as_one_and_the_evidence_says_so():
    judge = judged((FRENCH, GERMAN, GENERAL))
    rows = np.array([0, 0, 1]), np.array([1, 2, 2])
    assert (judge.probabilities(*rows) >= 0.97).all()
    verdict = judge.verdict(0, 1)
    assert verdict.outcome == "merge"
    assert verdict.evidence[0].startswith("Both do the job of translate,")
    alone = judged((FRENCH, GERMAN))
    assert alone.probabilities(np.array([0]), np.array([1]))[0] < 0.97


def test_siblings_with_one_description_are_duplicates_only_if_their_names_agree():
    text = "Return the newest entry of the log."
    fetch = tool("a", "fetch_entry", text, log=TEXT)
    get = tool("b", "get_entry", text, log=TEXT)
    other = tool("c", "get_summary", text, log=TEXT)
    rephrased = tool("d", "get_entry", "Return the last entry in a log.", log=TEXT)
    judge = judged((fetch, get, other, rephrased))
    twins, apart, reworded = judge.probabilities(np.array([0, 0, 0]), np.array([1, 2, 3]))
    auto_at = shipped_weights().auto_at
    assert twins >= auto_at
    assert apart < auto_at
    assert reworded < twins
