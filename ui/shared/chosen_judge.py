"""The one place that decides which judge makes the plan of a catalog.

A choice consists of a run, the number of decisions that the run knew, and the time until which
answers count. A plan therefore changes with a choice and with people's decisions, but never because
another answer arrives. Each process rebuilds the same verdicts from the ledger without asking.
"""

from dataclasses import asdict, dataclass, replace

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.analysis import Analysis, with_verdicts
from toolscope_core.model.configuration import QuestionConfig
from toolscope_core.store.decision_rows import read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.runs import ModelRun, StoredLedger, get_run
from toolscope_core.store.stored_state import write_setting
from ui.shared.kept import kept

OFFLINE = "offline"
"""The program's own judge, which is used if no model was chosen."""


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """The run whose answers count, up to the time ``until``.

    The questions were asked when the log had ``decisions`` rows.
    """

    run: str
    decisions: int
    until: str


def choose(store: Store, catalog_id: int, choice: JudgeChoice | None) -> None:
    """From now on, make the plan with this choice. ``None`` means the offline judge."""
    write_setting(store, setting_name(catalog_id), asdict(choice) if choice else None)


def chosen_at(run: ModelRun, decisions: int) -> JudgeChoice:
    """The choice of a finished run, with every answer that the run had when it ended."""
    return JudgeChoice(run.id, decisions, run.ended_at)


@kept()
def apply(analysis: Analysis, choice: JudgeChoice, store: Store, catalog_id: int) -> Analysis:
    """The analysis with the verdicts that count.

    The analysis is unchanged if the run used a prompt, judge or threshold that is no longer in use.
    """
    # The questions and their prompts are loaded only if somebody has chosen a model.
    from toolscope_core.llm.merge_questions import ask_for_verdicts
    from toolscope_core.llm.run_configuration import AsOf, still_holds, stored_answers

    run_config = get_run(store, choice.run).configuration
    if not still_holds(run_config, analysis.catalog, analysis):
        return analysis
    questions = QuestionConfig(**run_config["questions"])
    answers = stored_answers(run_config, AsOf(StoredLedger(store), choice.until))
    then = constraints(analysis.catalog, read_log(store, catalog_id)[: choice.decisions])
    model_verdicts = ask_for_verdicts(analysis, then, answers, questions)
    return with_verdicts(analysis, replace(model_verdicts, configuration=run_config))


def setting_name(catalog_id: int) -> str:
    return f"judge/{catalog_id}"
