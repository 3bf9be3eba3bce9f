import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.catalog import values
from toolscope_core.catalog.flaws import Flaw
from toolscope_core.catalog.values import read_yaml


def one(text):
    (value,) = read_yaml(text)
    return value


def test_plain_words_follow_yaml_1_2_and_nothing_is_guessed():
    words = ["no", "yes", "007", "0x1F", "2024-01-02", "1_000"]
    values = "~, null, true, 0, -3, +4, 1e5, .5, 1., '1', \"n\""
    read = [None, None, True, 0, -3, 4, 1e5, 0.5, 1.0, "1", "n"]
    assert one(f"[{', '.join(words)}, {values}]") == [*words, *read]
    assert one("200: ok\ntrue: 1\nx:\n  - !!str 5\n") == {"200": "ok", "true": 1, "x": ["5"]}
    assert read_yaml("--- 1\n--- 2\n") == (1, 2)
    assert read_yaml("# nothing") == ()


def test_aliases_and_merge_keys():
    text = "a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\nd: {<<: [*x, {r: 4}], p: 0}\n"
    both = {"p": 1, "q": 2}
    merged = {"c": {"p": 1, "q": 3}, "d": {"p": 0, "q": 2, "r": 4}}
    assert one(text) == {"a": both, "b": both, **merged}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("!!python/object/apply:os.system ['true']", None),
        ("a: !!python/name:os.system x", "'!!python/name:os.system'"),
        ("a: !!binary aGk=", "has the YAML tag '!!binary'"),
        ("a: {[1]: 2}", "has a list or mapping as a key"),
        ("a: {<<: 5}", "<< before"),
    ],
)
def test_what_json_cannot_hold_is_a_flaw(text, reason):
    value = one(text)
    if reason:
        assert reason in value["a"].reason
    else:
        assert value == ["true"], "a tag on a list is nothing but a tag"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [1", "not YAML: "),
        ("a: \x00", "a character"),
        ("&a [*a]", "has the alias *a inside itself"),
        ("[" * 101 + "]" * 101, "nested deeper than 100"),
        ("- " * 5000 + "x", "nested deeper than 100"),
        ("a: *b", "has the alias *b inside itself"),
    ],
)
def test_what_is_refused_as_a_whole(text, reason):
    refused = read_yaml(text)
    assert isinstance(refused, Flaw)
    assert reason in refused.reason


def test_aliases_that_multiply_or_grow_without_end_are_refused_at_once():
    text = f"a: &a {'x' * 900_000}\n" + "".join(f"k{n}: *a\n" for n in range(7_000))
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    for told, what in ((text, "67,108,864 characters"), ("\n".join(lines), "1,000,000 values")):
        assert f"more than {what}" in read_yaml(told).reason


def test_without_the_c_library(monkeypatch):
    import yaml

    monkeypatch.setattr(values, "LOADER", yaml.SafeLoader)
    assert one("a: [1, {b: no}]") == {"a": [1, {"b": "no"}]}
    assert isinstance(read_yaml("a: [1"), Flaw)
    assert isinstance(read_yaml("\x00"), Flaw)


@given(st.text(max_size=40) | st.text("-:[]{}&*!|>'\"?,# \na1", max_size=40))
def test_any_text_is_read_or_refused(text):
    read_yaml(text)
