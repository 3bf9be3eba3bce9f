import hashlib
import sys
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.properties import examples
from toolscope_core.catalog import tokens
from toolscope_core.catalog.tokens import (
    ESTIMATE,
    Costs,
    Size,
    SizeChange,
    estimate_tokens,
    tokenizer,
    tokenizer_in,
    tool_size,
    tool_tokens,
)
from toolscope_core.model.tool import Tool


def test_the_rule_by_hand():
    assert estimate_tokens("") == 0
    assert estimate_tokens("Search the notes") == 3
    assert estimate_tokens("getUserName") == 3
    assert estimate_tokens("internationalization") == 2
    assert estimate_tokens("1234567") == 3
    assert estimate_tokens('{"type":"object"}') == 5
    assert estimate_tokens("a\n    b") == 3
    assert estimate_tokens("翻訳") == 2
    assert estimate_tokens("\ud800") == 1


def test_each_format_costs_its_own_record():
    tool = Tool("x", "ring", "Ring it.", returns={"type": "boolean"})
    anthropic = '{"name":"ring","description":"Ring it.","input_schema":{"type":"object","additionalProperties":true}}'
    assert tool_tokens(tool, "anthropic") == estimate_tokens(anthropic)
    assert tool_tokens(tool, "mcp") > tool_tokens(tool, "anthropic")
    costs = Costs()
    assert costs.of(tool, "mcp") == costs.of(tool, "mcp") == tool_tokens(tool, "mcp")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (Size(412, 1_934), Size(280, 1_290), "412 → 280 tokens (−32 %), 1.9 → 1.3 kB"),
        (Size(118, 520), Size(139, 540), "118 → 139 tokens (+18 %), 520 → 540 bytes"),
        (Size(900, 3_000), Size(901, 2_990), "900 → 901 tokens (+0.1 %), 3.0 → 3.0 kB"),
        (Size(900, 3_000), Size(900, 3_000), "900 → 900 tokens, 3.0 → 3.0 kB"),
        (Size(), Size(12, 40), "0 → 12 tokens, 0 → 40 bytes"),
    ],
)
def test_a_change_of_size_is_one_line(before, after, words):
    change = SizeChange("mcp", before, after)
    assert change.in_words == words
    assert change.grows == (after.tokens > before.tokens)


def test_bytes_are_those_of_the_record_in_utf_8():
    tool = Tool("x", "ring", "Läute.", schema={"type": "object"})
    text = '{"name":"ring","description":"Läute.","input_schema":{"type":"object"}}'
    assert tool_size(tool, "anthropic").bytes == len(text.encode()) == len(text) + 1


@pytest.fixture
def vocabulary(tmp_path, monkeypatch):
    """A cache folder as tiktoken keeps it, whose vocabulary is our own."""
    content = b"words"
    monkeypatch.setattr(tokens, "VOCABULARY_SHA256", hashlib.sha256(content).hexdigest())
    file = tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790"
    file.write_bytes(content)
    return file


@pytest.fixture
def tiktoken(monkeypatch):
    """What takes the place of tiktoken, and counts words."""
    module = Mock()
    module.get_encoding().encode = lambda text, *, disallowed_special: [
        *disallowed_special,
        *text.split(),
    ]
    module.get_encoding.reset_mock()
    monkeypatch.setitem(sys.modules, "tiktoken", module)
    return module


def test_tokens_are_counted_where_the_vocabulary_is_at_hand(vocabulary, tiktoken):
    found = tokenizer_in(vocabulary.parent)
    assert (found.label, found.exact) == ("exact, o200k_base", True)
    assert found.count("one two <|endoftext|>") == 3
    tiktoken.get_encoding.assert_called_once_with("o200k_base")


def test_tiktoken_is_never_asked_where_it_would_download(
    vocabulary, tiktoken, tmp_path, monkeypatch
):
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "tiktoken", None)
        assert tokenizer_in(vocabulary.parent) is ESTIMATE
    vocabulary.write_bytes(b"word")  # damaged: tiktoken would fetch it anew
    assert tokenizer_in(vocabulary.parent) is ESTIMATE
    assert tokenizer_in(tmp_path / "nowhere") is ESTIMATE
    assert tokenizer_in(None) is ESTIMATE
    tiktoken.get_encoding.assert_not_called()


def test_the_environment_names_the_vocabulary(vocabulary, tiktoken, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary.parent))
    tokenizer.cache_clear()
    try:
        assert tokenizer().exact
        assert tool_tokens(Tool("x", "ring", "Ring it now.")) == 3
    finally:
        tokenizer.cache_clear()


@examples(50)
@given(st.text(max_size=40), st.text(max_size=40))
def test_more_text_never_costs_much_less(left, right):
    assert estimate_tokens(left) <= len(left.encode("utf-8", "surrogatepass"))
    assert estimate_tokens(left + " " + right) >= estimate_tokens(left) - 1
