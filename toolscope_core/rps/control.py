"""The noise-matched control: tools padded to the length of their variants with random words.

It tells whether an augmented document is found for what it says or for being longer
(Retrieval–Plan–Select, §4.5).
"""

import random
from collections.abc import Mapping
from functools import lru_cache

from toolscope_core.judging.wordnet import tables
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Augmentation

SEED = 447


def noise_matched(
    catalog: Catalog, variants: Mapping[str, Augmentation], seed: int = SEED
) -> dict[str, Augmentation]:
    """For each tool with a variant one that has its own description and, in place of what was
    written, as many random English words as that has more. The words of a tool depend on its id and
    ``seed`` alone.
    """
    tools = catalog.by_id
    control = {}
    for tool_id, written in variants.items():
        own = tools[tool_id].description.split()
        wanted = len(" ".join((written.expanded, *written.questions)).split())
        generator = random.Random(f"{seed} {tool_id}")
        padding = generator.choices(_words(), k=max(0, wanted - len(own)))
        control[tool_id] = Augmentation(" ".join([*own, *padding]))
    return control


@lru_cache(maxsize=1)
def _words() -> tuple[str, ...]:
    return tuple(sorted(word for word in tables().senses if word.isalpha()))
