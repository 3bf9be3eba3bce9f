"""The data of a page: everything about one catalog at one moment, and values computed from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from toolscope_core.catalog.document_variants import with_expanded
from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import SizeChange
from toolscope_core.decisions.constraints import owners, variants
from toolscope_core.merging.analysing import Proposals, plan_of, proposed
from toolscope_core.merging.analysis import Analysis, with_owners
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import JobError
from toolscope_core.model.pair import tool_key
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject
from toolscope_core.store import catalog_rows, engine, jobs, stored_state
from ui.shared import chosen_judge
from ui.shared.chosen_judge import JudgeChoice
from ui.shared.kept import kept

if TYPE_CHECKING:
    from ui.shared.services.workspace import Workspace

_Value = TypeVar("_Value")

FORMAT = "format of prompts"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A catalog, the log of its decisions, its analysis and the settings, at one moment.

    ``offline`` is the analysis by the program's own judge; it is ``None`` if that has to be
    started. All visitors share one snapshot until something changes, so a value ``kept`` with it is
    computed only once.
    """

    work: Workspace
    state: stored_state.StoredState
    catalog: Catalog
    offline: Analysis | None

    def forget(self) -> None:
        """Drop the cached values. Called when another snapshot has replaced this one.

        Streamlit keeps the arguments of the buttons that it has drawn, and so the snapshot, for a
        whole session.
        """
        for name in vars(self).keys() - {field.name for field in fields(self)}:
            vars(self).pop(name, None)

    @property
    def record(self) -> catalog_rows.CatalogRecord:
        """The name, number and time of this version."""
        return self.state.record

    @property
    def id(self) -> int:
        """The id of this version in the store."""
        return self.state.record.id

    @property
    def log(self) -> tuple[Decision, ...]:
        """All decisions on the catalogs of this name, oldest first."""
        return self.state.log

    @cached_property
    def newest(self) -> dict[str, catalog_rows.CatalogRecord]:
        """The newest version of each catalog, by name."""
        return catalog_rows.newest_of(self.state.records)

    @property
    def earlier(self) -> tuple[catalog_rows.CatalogRecord, ...]:
        """The versions before this one, newest first."""
        own = self.record
        return tuple(
            one for one in self.state.records if one.name == own.name and one.number < own.number
        )

    def setting(self, name: str, build: Callable[[JsonObject], _Value]) -> _Value | None:
        """A setting, converted by ``build``; ``None`` if nothing was chosen.

        Raises ``StoreError`` if ``build`` cannot read the setting.
        """
        value = self.state.settings.get(name)
        if value is None:
            return None
        with engine.row_named(self.work.store, f"setting row (name {name})"):
            return build(value)

    @cached_property
    def format(self) -> str:
        """The prompt format of the chosen client, from ``PROMPT_FORMATS``. The default is the first
        format.
        """
        saved_format = self.setting(FORMAT, lambda saved: str(saved["format"]))
        return saved_format if saved_format in PROMPT_FORMATS else PROMPT_FORMATS[0]

    @cached_property
    def tokens(self) -> dict[str, int]:
        """The tokens of each tool in every prompt of the chosen client, by tool id."""
        costs = self.work.catalogs.costs
        return {tool.id: costs.of(tool, self.format) for tool in self.catalog.tools}

    def start(self, kind: str, work: jobs.Work) -> str:
        """Start long work of this kind on the catalog. Returns the id of the job, or of one that is
        already running.
        """
        return self.work.analyses.background(self.id, kind, work)

    def start_watched(self, kind: str, work: jobs.Work) -> str:
        """Like ``start``, but the work ends when nobody watches it."""
        return self.work.analyses.watched.start(self.id, kind, work)

    def job(self, kind: str) -> jobs.Job | None:
        """The latest job of this kind on the catalog."""
        return self.work.analyses.job(self.id, kind)

    @cached_property
    def owners(self) -> dict[str, str]:
        """The implied server that people gave each tool, by tool id. An empty
        name means no server.
        """
        return owners(self.catalog, self.log)

    @cached_property
    def analysed(self) -> Analysis | None:
        """The analysis with the current judge, and with the implied servers as people changed them.

        It is the same object until one of these changes.
        """
        if self.offline is None:
            return None
        analysis = _owned(self.offline, tuple(sorted(self.owners.items())))
        choice = self.judge_choice
        return (
            chosen_judge.apply(analysis, choice, self.work.store, self.id) if choice else analysis
        )

    @property
    def judge_choice(self) -> JudgeChoice | None:
        """The choice of model answers that count; ``None`` for the offline judge."""
        name = chosen_judge.setting_name(self.id)
        return self.setting(name, lambda saved: engine.rebuilt(JudgeChoice, saved))

    @property
    def names_model(self) -> bool:
        """Whether the settings or the environment name a model to ask."""
        settings = self.work.settings
        return stored_state.ENDPOINT in self.state.settings or bool(
            settings.base_url and settings.model
        )

    @property
    def judge(self) -> str:
        """The judge that makes the plan: ``OFFLINE`` or ``MODEL at HOST``."""
        verdicts = self.analysed.model_verdicts if self.analysed else None
        return verdicts.judge if verdicts else chosen_judge.OFFLINE

    def named(self, key: str) -> str | None:
        """The id of the tool that a link names; ``None`` if this catalog does not have it."""
        return self._ids.get(key)

    @cached_property
    def _ids(self) -> dict[str, str]:
        return {tool_key(tool.id): tool.id for tool in self.catalog.tools}

    def described(self, texts: Mapping[str, str]) -> SizeChange:
        """How the size of original tools changes if they get these descriptions,
        given by tool id.
        """
        tools = [self.catalog.by_id[one] for one in texts]
        tools_described = (replace(tool, description=texts[tool.id]) for tool in tools)
        return self.work.catalogs.costs.change(tools, tools_described, self.format)

    @property
    def analysis(self) -> Analysis:
        """The same as ``analysed``, but raises ``JobError`` if there is no analysis yet."""
        if self.analysed is None:
            raise JobError("the catalog has not been analysed yet; start the analysis on its page")
        return self.analysed

    @property
    def plan(self) -> MergePlan:
        """The merge with the decisions made so far. Raises ``JobError`` before the analysis is
        done.
        """
        return self.plan_under(PlanConfig())

    @kept()
    def plan_under(self, config: PlanConfig) -> MergePlan:
        """The merge with the decisions made so far. ``config`` chooses which merges are applied.

        Raises the errors of ``plan``.
        """
        plan = plan_of(self.analysis, self._proposed(config.correct), config)
        return with_expanded(plan, variants(plan.catalog, self.log)) if config.expanded else plan

    @kept()
    def _proposed(self, divide: bool) -> Proposals:
        """The proposals from which all accept policies start."""
        return proposed(self.analysis, self.log, divide=divide)


@kept()
def _owned(offline: Analysis, names: tuple[tuple[str, str], ...]) -> Analysis:
    return with_owners(offline, dict(names))
