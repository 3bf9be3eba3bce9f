"""The options that several commands share; each is declared once."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.model import configuration
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import LOCAL, Engine, Progress
from toolscope_core.model.search_configuration import ClientName

if TYPE_CHECKING:  # without these imports, a search that asks no model is ready .3 s earlier
    from toolscope_core.llm.answer_file import AnswerFile

BundlePath = Annotated[
    Path, typer.Argument(help="The folder that merge wrote, or the zip from the Export page.")
]
CatalogPaths = Annotated[
    list[Path],
    typer.Argument(help="Catalog files, folders or zips; several are combined into one catalog."),
]
Accepted = Annotated[
    configuration.AcceptPolicy,
    typer.Option(help="Which clusters are accepted when no decision about them is recorded."),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="File with the levels of change kinds, accepted findings and whether versions have to "
        "be raised; default: .toolscope.yaml in this folder, if there is one.",
    ),
]
WithGatewayTools = Annotated[
    bool, typer.Option("--gateway", help="Also merge clusters that need a gateway.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]
AnswerYes = Annotated[
    bool, typer.Option("--yes", help="Answer yes for every server shown; only in a terminal.")
]
EmbedderName = Annotated[
    str | None, typer.Option(help="A sentence-transformers model, by name or folder.")
]
Configurations = Annotated[
    list[str],
    typer.Option(
        "--config",
        metavar="CONFIG",
        help="An MCP client's configuration with the original servers, which are started, or the "
        "address of one; repeatable.",
    ),
]
ServerKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        metavar="CATALOG=KEY",
        help="A server's name in the catalog and its name in the configuration, "
        "if they differ; repeatable.",
    ),
]
KeepDoubtful = Annotated[
    bool, typer.Option("--keep-doubtful", help="Also write the doubtful results, with reasons.")
]
VariantsFile = Annotated[
    Path | None,
    typer.Option(
        "--variants",
        help="JSONL of document variants with `tool`, `expanded` and `questions`, which are "
        "searched too.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(help="Minimum cosine similarity of a candidate pair; default: the encoder's."),
]
_Judge = Literal["offline", "llm"]
ChosenJudge = Annotated[
    _Judge, typer.Option("--judge", help="The judge: offline, or with a language model as well.")
]
AskAsPaper = Annotated[
    bool, typer.Option("--paper", help="Ask about every candidate pair and every cluster.")
]


@dataclass(slots=True)
class AnswerPlace:
    """The place where a command stores its model's answers, and the file after it has been read."""

    path: Path
    file: "AnswerFile | None" = None


@dataclass(frozen=True, slots=True)
class AskRequest:
    """The choice of a model and how to ask it; each field is an option.

    ``None`` means the value that was saved in the app, otherwise the value in the environment,
    otherwise the default.
    """

    model: Annotated[
        str | None, typer.Option(help="Name of the model; default: TOOLSCOPE_MODEL.")
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            help="Base URL of an OpenAI-compatible endpoint; default: TOOLSCOPE_BASE_URL."
        ),
    ] = None
    budget_calls: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of model calls in this run; run the command again to continue."
        ),
    ] = None
    concurrency: Annotated[
        int | None, typer.Option(help="Number of model calls in parallel; default: 8.")
    ] = None
    deadline: Annotated[
        float | None, typer.Option(help="Maximum seconds per model call; default: 60.")
    ] = None
    most_tokens: Annotated[
        int | None,
        typer.Option(
            help="If a reply is cut off, raise its limit to at most this many tokens, thinking "
            "included; default: 16384."
        ),
    ] = None
    temperature: Annotated[
        float | None, typer.Option(help="Temperature of the model; default: 0.")
    ] = None
    reasoning: Annotated[
        configuration.ReasoningEffort | None,
        typer.Option(
            metavar="EFFORT",
            help="How much the model should think, if it can be told: "
            f"{', '.join(configuration.REASONING_EFFORTS)}.",
        ),
    ] = None
    prompts: Annotated[
        configuration.PromptWording | None,
        typer.Option(
            help="Whose prompts judge and audit pairs, choose tools and write queries: ToolScope's "
            "own, or those that the papers print (ToolScope G.1, G.2, G.4; Tool2Vec C.1)."
        ),
    ] = None

    answers: Annotated[
        AnswerPlace | None,
        typer.Option(
            parser=lambda path: AnswerPlace(Path(path)),
            metavar="FILE",
            help="JSON Lines file of the model's answers, to commit: questions answered in it are "
            "not asked again, and new answers are added.",
        ),
    ] = None
    replay: Annotated[
        bool,
        typer.Option(
            "--replay",
            help="Ask no model and need no key; exit with 1 if --answers lacks an answer.",
        ),
    ] = False

    @property
    def options(self) -> dict[str, object]:
        """The options that were set, by field name."""
        return {
            one.name: value
            for one in fields(self)
            if (value := getattr(self, one.name)) is not None and value is not False
        }

    def applied(self, endpoint: configuration.Endpoint) -> configuration.Endpoint:
        """The endpoint with the options that were set in place of its own."""
        files = ("answers", "replay")
        changes: dict[str, Any] = {k: v for k, v in self.options.items() if k not in files}
        if "budget_calls" in changes:
            changes["budget"] = replace(endpoint.budget, calls=changes.pop("budget_calls"))
        return replace(endpoint, **changes)


SAVED = AskRequest()
"""The default options."""


def refuse_offline(judge: _Judge, options: Sequence[str]) -> None:
    """Raises ``ConfigError`` if options for a model were given although no model is asked."""
    if judge == "offline" and options:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in options)
        raise ConfigError(f"to use {names}, add --judge llm (for embeddings, use --embedder)")


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """The choice of how a catalog is read, and of where its tools are embedded and judged.

    Each field is an option.
    """

    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(
            help="Where texts are embedded and pairs judged: on this machine, or on a Ray cluster."
        ),
    ] = "local"
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The Ray cluster: auto, host:port or ray://host:port; default: one started on "
            "this machine for this run.",
        ),
    ] = None

    shards: Annotated[
        bool,
        typer.Option(
            "--shards",
            help="Read each file separately, for more tools than can be read at once. Files that "
            "cannot be read are listed, and servers with the same name count as one.",
        ),
    ] = False

    def read(self, paths: Sequence[Path], engine: Engine, progress: Progress) -> Catalog:
        """The catalog in files and folders. Raises ``CatalogError`` if there is no catalog."""
        if not self.shards:
            return read_files(paths)
        from toolscope_core.catalog.shards import read_shards  # loads the readers and the scan

        return read_shards(paths, engine, progress)

    def start(self) -> AbstractContextManager[Engine]:
        """The engine, which stops at the end of the block. Raises ``ConfigError`` if it cannot
        start.
        """
        if self.engine == "ray":
            from toolscope_core.engine.ray_engine import ray_engine

            return ray_engine(self.ray_address)
        if self.ray_address:
            raise ConfigError(
                f"--ray-address is {self.ray_address!r}, but the engine is local; use --engine ray"
            )
        return nullcontext(LOCAL)


HERE = EngineChoice()


OwnQueries = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        help="For findability: JSONL or CSV with `query` and `gold`. A tool that is never a "
        "query's only answer is searched for by its own words.",
    ),
]
EagerTokens = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Defer tools to the client's search, and keep in every prompt, up to this many "
        "tokens, the tools that its search would miss and that are called most.",
    ),
]
CallLogs = Annotated[
    list[Path] | None,
    typer.Option(
        "--usage", metavar="LOG", help="With --eager-tokens: a log or trace of calls; repeatable."
    ),
]
SearchedAs = Annotated[
    ClientName,
    typer.Option("--as", help="With --eager-tokens: the client's search whose misses count."),
]
