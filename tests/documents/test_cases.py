"""Each case of the reliability list has a test that bears its number."""

import re
from pathlib import Path

from tests.cases import NUMBERS

MARK = re.compile(r"^ *@pytest\.mark\.case\((.+)\)$", re.MULTILINE)


def test_each_case_has_a_test():
    files = Path(__file__).parents[1].rglob("test_*.py")
    marks = (mark for path in files for mark in MARK.findall(path.read_text("utf-8")))
    assert {int(number) for mark in marks for number in mark.split(",")} == {*NUMBERS}
