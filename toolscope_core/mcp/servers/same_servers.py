"""Finds configured servers that are the same: equal command or address, arguments and variables.

Values are compared in memory. Only names of differences leave this module, never values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from toolscope_core.catalog.schema.walking import object_at
from toolscope_core.mcp.servers.server_definitions import VARIABLE, items_of, process_text, url_of
from toolscope_core.model.tool import JsonObject

_RUNNERS = frozenset("npx bunx uvx uv pipx pnpm docker podman node".split())
"""Programs that run what their arguments name, so the place where they are installed does not
matter.
"""
_SUBCOMMANDS = frozenset("run exec dlx tool x start".split())
_WITH_VALUE = frozenset(
    "-e --env --env-file -v --volume --mount --name --network -p --publish -u --user -w --workdir "
    "--entrypoint --pull --platform --from --with --directory --python --package".split()
)
"""Flags of those programs that take a value."""
_VERSION = re.compile(r"(?<=.)(?:@|==|:)[\w.^~*-]+$")
_FLAG = re.compile(r"--?[A-Za-z][\w-]{0,30}")
_RELATIVE = re.compile(
    r"\.{1,2}(?:[/\\].*)?|(?![/~$-]|[A-Za-z]:).*\.(?:py|js|mjs|cjs|ts|rb|jar|sh|exe)"
)


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a server.

    ``program`` is the program or address, without values. ``values`` has everything with which the
    server is started, keyed by kind and name (``variable TOKEN``).
    """

    program: tuple[str, ...] = field(repr=False)
    values: Mapping[str, str] = field(repr=False)

    def __hash__(self) -> int:
        return hash((self.program, frozenset(self.values.items())))


def identity(entry: JsonObject, folder: str = "") -> Identity:
    """The identity of an entry in the form that most clients use.

    ``folder`` is the start folder of an entry that names no other folder. It counts only if a
    relative path depends on it.
    """
    if url := _text(url_of(entry)):
        return _identity_of_address(url, entry)
    command, args = _command(entry)
    variables = {f"variable {name}": _text(v) for name, v in object_at(entry, "env").items()}
    values = {"command": command, **_arguments(args), **variables}
    cwd = _text(entry.get("cwd"))
    if cwd == folder and not any(map(_RELATIVE.fullmatch, (command, *args))):
        cwd = ""
    others = {"folder": cwd, "envFile": _text(entry.get("envFile"))}
    values |= {name: value for name, value in others.items() if value}
    return Identity((command, *_run_words(args), cwd), values)


def differences(identities: Sequence[Identity]) -> tuple[str, ...]:
    """The names of the values that differ between the identities, such as ``variable TOKEN`` or
    ``argument --user``.
    """
    names = dict.fromkeys(name for one in identities for name in one.values)
    return tuple(name for name in names if len({one.values.get(name) for one in identities}) > 1)


def _identity_of_address(url: str, entry: JsonObject) -> Identity:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    user, _, host = parts.netloc.rpartition("@")
    path = parts.path.rstrip("/")
    address = f"{parts.scheme.lower()}://{host.lower()}{path}" if host else url
    values = {"address": address, "user of the address": user, "query of the address": parts.query}
    headers = {name.title(): _text(value) for name, value in object_at(entry, "headers").items()}
    values |= {f"header {name}": value for name, value in headers.items()}
    return Identity((address,), {name: value for name, value in values.items() if value})


def _command(entry: JsonObject) -> tuple[str, list[str]]:
    """The command and its arguments, without the parts that only fetch or find a package."""
    command, args = _text(entry.get("command")), [_text(arg) for arg in items_of(entry.get("args"))]
    if _basename(command) == "cmd" and [arg.lower() for arg in args[:1]] == ["/c"] and args[1:]:
        command, args = args[1], args[2:]
    name = _basename(command)
    if name in _RUNNERS:
        command = name
    if name == "npx":
        args = [arg for arg in args if arg not in ("-y", "--yes")]
    return command, args


def _basename(command: str) -> str:
    return re.sub(r"\.(?:cmd|exe)$", "", re.split(r"[\\/]", command)[-1].lower())


def _run_words(args: Sequence[str]) -> tuple[str, str, str]:
    """The package, image or file that runs (without its version), its folder, and the remote
    address of a bridge.
    """
    pairs = list(zip(("", *args), args, strict=False))
    words = (
        arg
        for before, arg in pairs
        if not arg.startswith("-") and before not in _WITH_VALUE and arg not in _SUBCOMMANDS
    )
    folders = (arg for before, arg in pairs if before == "--directory")
    addresses = (arg.partition("?")[0] for arg in args if arg.startswith(("http://", "https://")))
    return _VERSION.sub("", next(words, "")), next(folders, ""), next(addresses, "")


def _arguments(args: Sequence[str]) -> dict[str, str]:
    """The arguments, keyed by their flag or else by their position."""
    values: dict[str, str] = {}
    flag_before = ""
    for number, arg in enumerate(args, 1):
        flag, sign, value = arg.partition("=")
        if not _FLAG.fullmatch(flag):
            name, value = flag_before or f"argument {number}", arg
            flag_before = ""
        else:
            name = f"argument {flag}"
            name = f"{name} ({number})" if name in values else name
            flag_before = "" if sign else name
        values[name] = value
    return values


def _text(value: object) -> str:
    """A value as it is passed to a process, with one spelling for references to variables."""
    return VARIABLE.sub(
        lambda match: f"${{{match[1]}{'' if match[2] is None else f':-{match[2]}'}}}",
        process_text(value),
    )
