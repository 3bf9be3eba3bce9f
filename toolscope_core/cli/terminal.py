"""The shared parts of all commands: options, errors as sentences, output."""

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
"""The most lines about one subject."""
_LINE_ANEW = "\r\x1b[K"
_PACED = 5.0
"""After this many seconds, a stage's pace is shown."""
P = ParamSpec("P")
R = TypeVar("R")


def command(function: Callable[..., R]) -> Callable[..., R]:
    """A command listed in ``COMMANDS``, with its errors as sentences.

    A parameter whose default is a dataclass becomes an option for each of its fields that is not an
    option yet.
    """
    return errors_as_sentences(_with_options(function))


def errors_as_sentences(function: Callable[P, R]) -> Callable[P, R]:
    """The function, changed to exit with 2 and a sentence for errors that a user can fix."""

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
    """Print one line, safe for any catalog names in it."""
    typer.echo(for_terminal(text))


def say_json(value: object) -> None:
    """Print a whole report as JSON."""
    typer.echo(json.dumps(value, indent=1))


def say_error(text: str) -> None:
    """Print a sentence, and the indented lines of a list if it has one."""
    lines = f"toolscope: {text}".split("\n  ")
    typer.echo("\n  ".join(map(for_terminal, lines)), err=True)


def more(count: int, label: str, one: str = "") -> str:
    """Words such as ``, 2 dangling references`` or, with ``one``, ``, 1 dangling reference``."""
    return f", {count:,} {one if one and count == 1 else label}" if count else ""


def tell_doubtful(reasons: Sequence[str]) -> None:
    """Print the first doubtful texts of a model, and the number of others."""
    for reason in reasons[:MOST_TOLD]:
        say(f"doubtful  {reason}")
    if len(reasons) > MOST_TOLD:
        say(f"and {len(reasons) - MOST_TOLD:,} more; --keep-doubtful writes them all")


def progress() -> Progress:
    """Progress on one line of a terminal, with pace and remaining time for a long stage."""
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
    """The pace of a stage and its remaining time, once known."""
    if seconds < _PACED or not items:
        return ""
    remaining = (step.total - step.done) * seconds / items
    return f", {items / seconds:,.0f} a second, {duration(remaining)} left"


def tell_spent(model: str, costs: Sequence[TaskCost]) -> None:
    """Report how much all tasks together used the model."""
    all_tasks = sum_of_tasks(costs)
    say(
        f"{model}: {quantity(all_tasks.questions, 'question')}, {all_tasks.reused:,} known before"
        f"{more(all_tasks.unanalysed, 'unanalysed')}; {quantity(all_tasks.calls, 'call')}, "
        f"{all_tasks.tokens_in:,} tokens in, {all_tasks.tokens_out:,} out"
    )


def spent_json(costs: Iterable[TaskCost]) -> dict[str, int]:
    """The cost of questions to a model.

    ``questions`` count whether or not the answer was stored; calls and tokens are those paid for
    now.
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
