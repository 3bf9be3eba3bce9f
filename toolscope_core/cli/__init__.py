"""The command line: the same core as the app, for scripts and CI.

Progress goes to standard error, and only if that is a terminal. Results go to files, and a short
report goes to standard output. The exit status is 0 if all went well, 1 if a requested check found
something, and 2 for an error that the user can fix; the reason is printed.
"""

import ast
import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from toolscope_core import __version__
from toolscope_core.cli.terminal import errors_as_sentences, say_error
from toolscope_core.model.environment import unused_variables

OVERVIEW = "overview"
COMMANDS = {
    OVERVIEW: "machine_command.overview",
    "agent-run": "agent_command.agent_run",
    "prepare": "app_commands.prepare",
    "app": "app_commands.open_app",
    "excerpt": "app_commands.excerpt",
    "copy-store": "app_commands.copy_whole_store",
    "upgrade-store": "app_commands.upgrade_store",
    "check": "check_command.check",
    "compare-calls": "compare_command.compare_calls",
    "connect": "connect_command.connect",
    "evaluate": "evaluate_command.evaluate",
    "stress": "experiment_commands.stress",
    "sweep": "experiment_commands.sweep",
    "ablation": "experiment_commands.ablation",
    "generate-queries": "generate_command.generate_queries",
    "augment": "generate_command.augment",
    "inspect": "inspect_commands.inspect",
    "diff": "inspect_commands.diff",
    "judge": "judge_commands.judge",
    "quality": "judge_commands.quality",
    "estimate": "judge_commands.estimate",
    "learn": "learn_commands.learn",
    "tune-embedder": "learn_commands.tune_embedder",
    "mcp": "mcp_command.mcp",
    "merge": "merge_command.merge",
    "plan-request": "plan_command.plan_request",
    "profile": "profile_command.profile",
    "relabel": "relabel_command.relabel",
    "search": "search_command.search",
    "serve": "serve_command.serve",
    "usage": "usage_command.usage",
}
"""The module and function of each command, in the order of the help."""
FORM: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class UnloadedCommand(TyperCommand):
    """A listed command whose module is imported only when the command runs."""

    def __init__(self, name: str, place: str) -> None:
        super().__init__(name)
        self.module, self.function = place.split(".")

    @errors_as_sentences
    def load(self) -> Any:
        """The command itself. Exits with 2 if it needs a package of an extra that is not
        installed.
        """
        module = import_module(f"{__name__}.{self.module}")
        single = typer.Typer(**FORM)
        single.command(self.name)(getattr(module, self.function))
        return get_command(single)

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence of the command's docstring, read from the source text."""
        source = Path(__file__).with_name(f"{self.module}.py").read_text("utf-8")
        functions = (one for one in ast.parse(source).body if isinstance(one, ast.FunctionDef))
        self.help = next(ast.get_docstring(one) for one in functions if one.name == self.function)
        return super().get_short_help_str(limit)


class LazyGroup(TyperGroup):
    """A group that imports a command's module only to run the command or show its own help."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: UnloadedCommand(name, place) for name, place in COMMANDS.items()}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """If no command is given, the arguments are parsed as options of the overview."""
        own = {name for one in self.get_params(ctx) for name in one.opts}
        if not args or (args[0].startswith("-") and args[0] not in own):
            args = [OVERVIEW, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The name of the chosen command, the command, and its arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, UnloadedCommand) else None, rest


app = typer.Typer(name="toolscope", cls=LazyGroup, **FORM)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"toolscope {__version__}")
        raise typer.Exit


@app.callback()
def toolscope(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Audit and curate the toolsets of LLM agents. Without a command: overview."""
    for unused in unused_variables(os.environ):
        say_error(unused)
