"""Cases replayed on a catalog and its baseline: which find another tool that did not before."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.check.matched import Matched
from toolscope_core.evaluation.change_effects import PLACES
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.confusions import FoundInstead, failed_case
from toolscope_core.evaluation.query_sets import Query, with_ids, with_names
from toolscope_core.evaluation.ranking import Ranker
from toolscope_core.model.catalog import Catalog


@dataclass(frozen=True, slots=True)
class CaseConfusion:
    """A case by the ids of today, and what it finds in the place of what it asks for."""

    case: Query
    confusion: FoundInstead


@dataclass(frozen=True, slots=True)
class ReplayedCases:
    """How many cases there are and fail, and what in them is confused that was not before."""

    cases: int = 0
    failed: int = 0
    new: tuple[CaseConfusion, ...] = ()


def replayed_cases(
    before: Catalog, now: Catalog, tools: Matched, cases: Sequence[Query], ranker: Ranker
) -> ReplayedCases:
    """Cases searched in both catalogs, split by rule. A case may name a tool by a name that no
    other has, and by its id of before, where it has another one now.
    """
    names = {old: new for new, old in tools.before.items() if old not in now.by_id}
    moved = [with_names(case, names) for case in with_ids(cases, now.tools)]
    requests = list(map(request_of("rules"), moved))
    rankings = ranker.rankings(now.tools, requests, PLACES)
    old_rankings = [
        [names.get(one, one) for one in ranking]
        for ranking in ranker.rankings(before.tools, requests, PLACES)
    ]
    old_ids = {names.get(tool.id, tool.id) for tool in before.tools}
    failed, new = 0, []
    for case, ranking, old_ranking in zip(moved, rankings, old_rankings, strict=True):
        wrong = failed_case(case, ranking, now.by_id)
        failed += bool(wrong)
        earlier = failed_case(case, old_ranking, old_ids)
        new += [CaseConfusion(case, one) for one in wrong if one not in earlier]
    return ReplayedCases(len(cases), failed, tuple(new))
