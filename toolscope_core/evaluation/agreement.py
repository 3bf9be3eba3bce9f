"""How far two people agree beyond chance."""

from collections.abc import Sequence


def cohens_kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    """Cohen's κ of two people's answers to the same questions, in the same order; ``None`` without
    answers, or where both give only one and the same (Cohen 1960).
    """
    if not first or len({*first, *second}) < 2:
        return None
    from sklearn.metrics import cohen_kappa_score

    return float(cohen_kappa_score(first, second))
