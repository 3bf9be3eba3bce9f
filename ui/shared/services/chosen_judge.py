"""The one place that decides which judge the plan of a catalog is made with.

A choice names a run, how many decisions it knew, and until when answers count. So a plan changes
with a choice and with people's decisions, and never because an answer arrives meanwhile; each
process rebuilds the same model_verdicts from the ledger, without asking.
"""

import threading
from dataclasses import asdict, dataclass, replace

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.analysis import Analysis, with_verdicts
from toolscope_core.model.configuration import QuestionConfig
from toolscope_core.store.decision_rows import read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.ledger import StoredLedger
from toolscope_core.store.rebuilding import rebuilt
from toolscope_core.store.runs import ModelRun, get_run
from toolscope_core.store.settings import setting_as, write_setting
from ui.shared.services.result_cache import ResultCache

OFFLINE = "offline"
"""The judge of the program, where no model was chosen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Which run's answers count: those up to the time ``until``, asked for when the log had so
    many ``decisions``.
    """

    run: str
    decisions: int
    until: str


class ChosenJudge:
    """Puts the model_verdicts of the chosen model on an analysis."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ledger = StoredLedger(store)
        self._judged: ResultCache[Analysis] = ResultCache()
        self._lock = threading.Lock()

    def choice(self, catalog_id: int) -> Choice | None:
        """``None`` for the offline judge."""
        return setting_as(self._store, _name(catalog_id), lambda saved: rebuilt(Choice, saved))

    def choose(self, catalog_id: int, choice: Choice | None) -> None:
        """Make the plan with this from now on."""
        write_setting(self._store, _name(catalog_id), asdict(choice) if choice else None)

    def applied_to(self, catalog_id: int, analysis: Analysis) -> Analysis:
        """The analysis with the model_verdicts that count; the same value until that changes."""
        choice = self.choice(catalog_id)
        if choice is None:
            return analysis
        with self._lock:
            return self._judged.get(
                catalog_id,
                (analysis,),
                lambda: self._rebuilt(catalog_id, analysis, choice) or analysis,
                state=choice,
            )

    def _rebuilt(self, catalog_id: int, analysis: Analysis, choice: Choice) -> Analysis | None:
        """``None`` where the run was another's: of a prompt, a judge or a θ no longer in use."""
        # The questions and their prompts are loaded only where somebody chose a model.
        from toolscope_core.llm.merge_questions import ask_for_verdicts
        from toolscope_core.llm.run_configuration import AsOf, still_holds, stored_answers

        run_config = get_run(self._store, choice.run).configuration
        if not still_holds(run_config, analysis.catalog, analysis):
            return None
        questions = QuestionConfig(**run_config["questions"])
        log = read_log(self._store, catalog_id)[: choice.decisions]
        asking = stored_answers(run_config, AsOf(self._ledger, choice.until))
        model_verdicts = ask_for_verdicts(
            analysis, constraints(analysis.catalog, log), asking, questions
        )
        return with_verdicts(analysis, replace(model_verdicts, configuration=run_config))


def chosen_at(run: ModelRun, decisions: int) -> Choice:
    """The choice of a run that has ended: every answer it had by then."""
    return Choice(run.id, decisions, run.ended_at)


def _name(catalog_id: int) -> str:
    return f"judge/{catalog_id}"
