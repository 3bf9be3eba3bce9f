from hypothesis import given, settings
from hypothesis import strategies as st

from toolscope_core.catalog import estimate_tokens, tool_tokens
from toolscope_core.datamodel import Tool


def test_the_rule_by_hand():
    assert estimate_tokens("") == 0
    assert estimate_tokens("Search the notes") == 3
    assert estimate_tokens("getUserName") == 3
    assert estimate_tokens("get_user_name") == 3
    assert estimate_tokens("internationalization") == 2
    assert estimate_tokens("1234567") == 3
    assert estimate_tokens('{"type":"object"}') == 5
    assert estimate_tokens("a\n    b") == 3
    assert estimate_tokens("翻訳") == 2
    assert estimate_tokens("\ud800") == 1


def test_a_tool_costs_its_openai_record():
    tool = Tool("x", "ring", "Ring it.", schema={"type": "object", "properties": {"n": {}}})
    text = (
        '{"type":"function","function":{"name":"ring","description":"Ring it.",'
        '"parameters":{"type":"object","properties":{"n":{}}}}}'
    )
    assert tool_tokens(tool) == estimate_tokens(text)


@settings(max_examples=50)
@given(st.text(max_size=40), st.text(max_size=40))
def test_more_text_never_costs_much_less(left, right):
    assert estimate_tokens(left) <= len(left.encode("utf-8", "surrogatepass"))
    assert estimate_tokens(left + " " + right) >= estimate_tokens(left) - 1
