"""No spelling of a key is left, whatever stands around it."""

import html
import json
import re
from html.entities import html5

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from toolscope_core.model.masking import MASK, masked

KEPT = 8
"""So many characters of a key in a row would be too many."""
KEY = "sk-0123456789abcdefghijklmnopqrs"
KEYS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_/+=.", min_size=12, max_size=40)
SPELLINGS = (
    str,
    lambda char: f"\\u{ord(char):04x}",
    lambda char: f"\\u{ord(char):04X}",
    lambda char: f"\\\\\\u{ord(char):04x}",
    lambda char: f"\\u{{{ord(char):x}}}",
    lambda char: f"\\x{ord(char):02X}",
    lambda char: f"\\{ord(char):03o}",
    lambda char: f"\\{char}" if char in "/-+=." else char,
    lambda char: f"%{ord(char):02x}",
    lambda char: f"%25{ord(char):02X}",
    lambda char: f"&#{ord(char)};",
    lambda char: f"&#x{ord(char):x};",
    lambda char: f"&amp;#X00{ord(char):X};",
    lambda char: {"/": "&sol;", "_": "&lowbar;", "=": "&equals;"}.get(char, char),
)
JSON_AROUND = ('{"error": {"message": "', '", "error": "', '"}}', '{"a": [1, ', "Bearer ", "<p>")
ESCAPES_AROUND = r"\ \\ % %25 & &amp; \" \u00 \n 0".split()
CHARACTERS_AROUND = ("\ud800", "é", "\n")
AROUND = st.lists(
    st.sampled_from([*JSON_AROUND, *ESCAPES_AROUND, *CHARACTERS_AROUND]), max_size=6
).map("".join)


@st.composite
def echoes(draw):
    key = draw(KEYS)
    spelled = [draw(st.sampled_from(SPELLINGS))(char) for char in key]
    return key, "".join(spelled)


def unescaped(text):
    """What a reader of any of the notations would make of it, taken off layer by layer."""
    before = None
    while before != text:
        before = text
        text = html.unescape(text)
        text = re.sub(r"%([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)
        text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
        text = re.sub(r"\\+u\{([0-9a-fA-F]+)\}", lambda found: chr(int(found[1], 16)), text)
        text = re.sub(r"\\+x([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)
        text = re.sub(r"\\+([0-3][0-7]{2})", lambda found: chr(int(found[1], 8)), text)
        text = re.sub(r"\\+([/+=.-])", r"\1", text)
    return text


@given(echoes(), AROUND, AROUND)
def test_no_part_of_a_key_is_left_in_any_mixture_of_spellings(echo, before, after):
    key, spelled = echo
    left = unescaped(masked(f"{before}{spelled}{after}", key))
    assert not [at for at in range(len(key) - KEPT + 1) if key[at : at + KEPT] in left]


@given(echoes(), st.text())
def test_json_stays_json_and_its_other_text_as_it_was(echo, note):
    key, spelled = echo
    assume(masked(json.dumps(note), key) == json.dumps(note))
    spelled = spelled.replace("\\", "\\\\")  # escapes that stand in a text of the JSON
    text = f'{{"said": "for {spelled}!", "note": {json.dumps(note)}}}'
    assert json.loads(masked(text, key)) == {"said": f"for {MASK}!", "note": note}


@pytest.mark.parametrize("key", ["schlüssel-😀-0123", 'a"b\\c\nd', "\\\\\\\\", "aaaa"])
def test_keys_of_odd_characters_are_found_as_json_and_urls_spell_them(key):
    for spelled in (key, json.dumps(key)[1:-1], json.dumps(key, ensure_ascii=False)[1:-1]):
        assert masked(f'"{spelled}" %', key) == f'"{MASK}" %'


@given(st.text(), KEYS)
def test_a_text_without_the_key_is_left_alone(text, key):
    assume(key not in unescaped(text))
    assert masked(text, key) == text and masked(text, "") == text


@pytest.mark.parametrize(
    "filler", ["\\", "%25", "&amp;", "s\\", "&#0", "u", "0", "\\u", "sk-s\\\\"]
)
def test_long_runs_of_escapes_take_linear_time(filler):
    assert masked(filler * 200_000, "sk-secret/0123456789") == filler * 200_000


def test_every_name_of_a_character_in_html_is_read():
    names = [(char, name) for name, char in html5.items() if name.endswith(";") and len(char) == 1]
    for start in range(0, len(names), 10):
        some = names[start : start + 10]
        key = "".join(char for char, _ in some)
        assert masked("".join(f"&{name}" for _, name in some), key) == MASK, some


@pytest.mark.parametrize("said", [KEY.upper(), KEY[:16], f"{KEY[:16]} and {KEY[16:].title()}"])
def test_halves_and_capitals_of_a_key_are_found(said):
    assert "sk-" not in masked(f"I have {said}.", KEY).casefold()
    assert KEY[16:] not in masked(f"I have {said} %.", KEY).casefold()


def test_what_keys_of_a_vendor_begin_with_is_no_half():
    assert masked("sk-proj- is a prefix", "sk-proj-01234567") == "sk-proj- is a prefix"
    assert masked("Blue is a colour.", "bLuE") == "Blue is a colour."
