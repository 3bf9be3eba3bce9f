"""The plan of a request: its jobs, what was found for each, what is called, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolscope_core.model.tool import JsonObject, Tool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool found for a job, with its score in [0, 1]."""

    tool: Tool
    score: float


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool to call for a job. ``arguments`` says of its parameters where their values come from:
    the request, an earlier tool, or unknown; empty where nobody was asked.
    """

    tool_id: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A job of a request: the candidates that the worker saw in so many ``rounds``, the best
    first, what is called, and why. ``phrasings`` are the other words in which it was searched.
    """

    job: str
    candidates: tuple[Candidate, ...]
    calls: tuple[PlannedCall, ...]
    reason: str
    phrasings: tuple[str, ...] = ()
    rounds: int = 1


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """The jobs of a request in order. ``dropped`` are tools that a look at the whole plan left
    out, each with the reason.
    """

    request: str
    steps: tuple[PlannedStep, ...]
    dropped: Mapping[str, str] = field(default_factory=dict)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The tools that the steps call, each once, in the order of the steps."""
        return tuple(dict.fromkeys(call.tool_id for step in self.steps for call in step.calls))

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """The tools of the plan: those chosen and not dropped."""
        return tuple(one for one in self.chosen if one not in self.dropped)

    @property
    def searches(self) -> int:
        """How many rankings its steps took."""
        return sum(1 + len(step.phrasings) for step in self.steps)

    @property
    def tools_shown(self) -> int:
        """How many tools the worker saw, over all steps."""
        return sum(len(step.candidates) for step in self.steps)

    def as_json(self) -> JsonObject:
        """The trace."""
        return {
            "request": self.request,
            "tools": list(self.tool_ids),
            "dropped": dict(self.dropped),
            "steps": [_step_json(step) for step in self.steps],
        }


def _step_json(step: PlannedStep) -> JsonObject:
    return {
        "job": step.job,
        "phrasings": list(step.phrasings),
        "rounds": step.rounds,
        "candidates": [
            {"tool": one.tool.id, "score": round(one.score, 6)} for one in step.candidates
        ],
        "calls": [{"tool": call.tool_id, "arguments": dict(call.arguments)} for call in step.calls],
        "reason": step.reason,
    }
