"""What all commands share: options, errors as sentences, and output."""

import inspect
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, get_type_hints

import typer

from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.model.errors import ToolScopeError, missing_packages_in_words
from toolscope_core.model.numbers import duration, quantity
from toolscope_core.model.protocols import Progress, Step, TaskCost, silent, sum_of_tasks

MOST_TOLD = 10
"""The most lines that are printed about one subject."""
_LINE_ANEW = "\r\x1b[K"
_PACED = 5.0
"""The number of seconds after which the pace of a stage is shown."""
P = ParamSpec("P")
R = TypeVar("R")


def command(function: Callable[..., R]) -> Callable[..., R]:
    """A command that can be listed in ``COMMANDS``; it reports errors as sentences.

    If the default of a parameter is a dataclass, each of its fields that is not an option yet
    becomes an option.
    """
    return errors_as_sentences(_with_options(function))


def errors_as_sentences(function: Callable[P, R]) -> Callable[P, R]:
    """The function, changed to print a sentence and exit with 2 for errors that a user can fix."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with missing_packages_in_words():
                return function(*args, **kwargs)
        except ToolScopeError as error:
            say_error(str(error))
            raise typer.Exit(2) from error

    return run


def _with_options(function: Callable[..., R]) -> Callable[..., R]:
    defaults = {k: one.default for k, one in inspect.signature(function).parameters.items()}
    forms: dict[str, type[Any]] = {k: type(one) for k, one in defaults.items() if is_dataclass(one)}
    if not forms:
        return function
    own = inspect.signature(function, eval_str=True).parameters
    names, options = set(own), dict[str, list[inspect.Parameter]]()
    for parameter, form in forms.items():
        hints = get_type_hints(form, include_extras=True)
        options[parameter] = [
            own[parameter].replace(name=one.name, annotation=hints[one.name], default=one.default)
            for one in fields(form)
            if one.name not in names
        ]
        names |= {one.name for one in options[parameter]}

    @wraps(function)
    def run(**values: Any) -> R:
        settings = {
            parameter: form(**{one.name: values.pop(one.name) for one in options[parameter]})
            for parameter, form in forms.items()
        }
        return function(**values, **settings)

    in_order = [one for name, old in own.items() for one in options.get(name, [old])]
    run.__signature__ = inspect.Signature(in_order)  # type: ignore[attr-defined]
    return run


def fail_for(reason: str) -> None:
    """Exit with 1 if there is a reason."""
    if reason:
        say_error(reason)
        raise typer.Exit(1)


def say(text: str) -> None:
    """Print one line that is safe even if it contains names from a catalog."""
    typer.echo(for_terminal(text))


def say_json(value: object) -> None:
    """Print a whole report as JSON."""
    typer.echo(json.dumps(value, indent=1))


def say_error(text: str) -> None:
    """Print a sentence, followed by the indented lines of a list if it has one."""
    lines = f"toolscope: {text}".split("\n  ")
    typer.echo("\n  ".join(map(for_terminal, lines)), err=True)


def more(count: int, label: str, one: str = "") -> str:
    """Words such as ``, 2 dangling references``, or ``, 1 dangling reference`` if ``one`` is
    given.
    """
    return f", {count:,} {one if one and count == 1 else label}" if count else ""


def tell_doubtful(reasons: Sequence[str]) -> None:
    """Print the first texts of a model that are doubtful, and the number of the others."""
    for reason in reasons[:MOST_TOLD]:
        say(f"doubtful  {reason}")
    if len(reasons) > MOST_TOLD:
        say(f"and {len(reasons) - MOST_TOLD:,} more; --keep-doubtful writes them all")


def progress() -> Progress:
    """Progress on one line of a terminal, with pace and remaining time if a stage takes long."""
    if not sys.stderr.isatty():
        return silent
    began: dict[str, tuple[float, int]] = {}

    def show(step: Step) -> None:
        since, first = began.get(step.stage, (0.0, step.done + 1))
        if step.done < first:
            since, first = began[step.stage] = time.monotonic(), step.done
        is_done = step.done >= step.total
        pace = "" if is_done else _pace(step, time.monotonic() - since, step.done - first)
        end = "\n" if is_done else ""
        sys.stderr.write(f"{_LINE_ANEW}{step.stage}: {step.done:,} of {step.total:,}{pace}{end}")
        sys.stderr.flush()

    return show


def _pace(step: Step, seconds: float, items: int) -> str:
    """The pace of a stage and the remaining time, as soon as they are known."""
    if seconds < _PACED or not items:
        return ""
    remaining = (step.total - step.done) * seconds / items
    return f", {items / seconds:,.0f} a second, {duration(remaining)} left"


def tell_spent(model: str, costs: Sequence[TaskCost]) -> None:
    """Report how much all tasks together have used the model."""
    all_tasks = sum_of_tasks(costs)
    say(
        f"{model}: {quantity(all_tasks.questions, 'question')}, {all_tasks.reused:,} known before"
        f"{more(all_tasks.unanalysed, 'unanalysed')}; {quantity(all_tasks.calls, 'call')}, "
        f"{all_tasks.tokens_in:,} tokens in, {all_tasks.tokens_out:,} out"
    )


def spent_json(costs: Iterable[TaskCost]) -> dict[str, int]:
    """The cost of questions to a model.

    ``questions`` are counted even if the answer was already stored. Calls and tokens are those paid
    for in this run.
    """
    all_tasks = sum_of_tasks(costs)
    counts = ("questions", "calls", "tokens_in", "tokens_out")
    return {name: getattr(all_tasks, name) for name in counts}


def spent_text(counts: Mapping[str, Any]) -> str:
    """The counts of ``spent_json``, in words."""
    return (
        f"{quantity(counts['questions'], 'question')} to a model in "
        f"{quantity(counts['calls'], 'call')} ({counts['tokens_in']:,} tokens in, "
        f"{counts['tokens_out']:,} out)"
    )
