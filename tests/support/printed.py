"""Reads the figures of what a command printed."""

import re


def figures(text: str, word: str) -> list[int]:
    """The whole numbers, in order, of the first line that has the word."""
    line = next((line for line in text.splitlines() if word in line), "")
    return [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.]*\w)", line)]
