"""Unicode normal forms in time linear in the text.

Python sorts a run of combining marks by insertion: 180 kB of them take 22 s. As Unicode's
Stream-Safe Text Format does (UAX #15, section 13), a run is cut after 30 marks; no language
writes more.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

LONGEST_RUN = 30


def normalise(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """The text in a normal form, without combining marks beyond 30 in a run."""
    if len(text) > LONGEST_RUN and not text.isascii():
        text = "".join(_cut_runs(text))
    return unicodedata.normalize(form, text)


def letters_and_digits(name: str) -> str:
    """The letters and digits of a name, case-folded: clients write the other characters
    differently.
    """
    return "".join(char for char in name.casefold() if char.isalnum())


def plain_name(name: str) -> str:
    """The name as sent by clients that allow no other characters."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def comparable_name(name: str) -> str:
    """A name as clients compare it."""
    if name.isascii():
        return name.lower()
    return normalise("NFKC", name).casefold()


def _cut_runs(text: str) -> Iterator[str]:
    run = 0
    for character in text:
        run = run + 1 if unicodedata.combining(character) else 0
        if run <= LONGEST_RUN:
            yield character
