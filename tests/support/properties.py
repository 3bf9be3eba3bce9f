"""How many examples the properties try."""

from hypothesis import settings

EXAMPLES = 25


def examples(count, **options):
    """Settings for a property that needs more than most, or is slow; a profile multiplies these
    too.
    """
    return settings(max_examples=count * settings().max_examples // EXAMPLES, **options)
