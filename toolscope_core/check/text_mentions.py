"""Finds names of removed tools in texts outside the catalog: prompts, skills, and clients'
rules.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.catalog.flaws import writable
from toolscope_core.catalog.gone_names import GoneNames, gone_names_in
from toolscope_core.files.folders import read_file
from toolscope_core.model.errors import ConfigError

_SUFFIXES = frozenset(
    ".md .mdc .mdx .txt .rst .adoc .prompt .prompty .jinja .j2 .json .jsonc .jsonl .yaml .yml "
    ".toml .py .ts .js .sh .xml .csv".split()
)
BARE = re.compile(r"\.(?:cursorrules|windsurfrules|clinerules|roorules|goosehints)|AGENTS|CLAUDE")
"""Matches rule files without an extension."""
SKIPPED = frozenset((".git", ".venv", "node_modules", "__pycache__"))
LARGEST = 2_000_000
MOST_FILES = 20_000


@dataclass(frozen=True, slots=True)
class TextMention:
    """A line in a file that names a removed tool.

    ``new_name`` is empty for a tool that was left out. ``file`` is the path relative to the given
    folder.
    """

    file: str
    line: int
    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class UnreadText:
    """A file in which a name may have been missed: it was not searched, or it is not UTF-8."""

    file: str
    why: str


@dataclass(frozen=True, slots=True)
class TextSearch:
    """The mentions of removed tools in texts, and the unread files, in file order."""

    mentions: tuple[TextMention, ...] = ()
    unread: tuple[UnreadText, ...] = ()


def mentions_in(file: str, text: str, gone: GoneNames) -> Iterator[TextMention]:
    """Every line of a text that names a removed tool in ``gone`` (see ``gone_names``).

    Each name counts once per line.
    """
    for number, line in enumerate(text.splitlines(), 1):
        for name in sorted(gone_names_in(line, gone)):
            yield TextMention(file, number, name, gone.new_names[name])


def search_text(file: str, content: bytes, gone: GoneNames) -> TextSearch:
    """The mentions in a file.

    A file of more than ``LARGEST`` bytes is not searched. In a file that is not UTF-8, only plain
    ASCII names can be found.
    """
    if len(content) > LARGEST:
        return TextSearch(unread=(_too_large(file),))
    mentions = tuple(mentions_in(file, content.decode("utf-8", "replace"), gone))
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return TextSearch(mentions, (UnreadText(file, "is not UTF-8; save it as UTF-8"),))
    return TextSearch(mentions)


def search_below(folders: Sequence[Path], gone: GoneNames) -> TextSearch:
    """The mentions in text files below some folders, in the order of the paths.

    Raises ``ConfigError`` for a path that is not a folder or file, and for too many files.
    """
    searches = []
    for folder in folders:
        files, unread = _files(folder)
        searches += [_search(path, folder, gone) for path in files]
        searches.append(TextSearch(unread=tuple(unread)))
    return join_searches(searches)


def join_searches(searches: Sequence[TextSearch]) -> TextSearch:
    """Several searches joined into one."""
    return TextSearch(
        tuple(one for search in searches for one in search.mentions),
        tuple(one for search in searches for one in search.unread),
    )


def _files(folder: Path) -> tuple[list[Path], list[UnreadText]]:
    """The text files of a folder, and the entries that lead elsewhere or cannot be opened."""
    if folder.is_file():
        return [folder], []
    if not folder.is_dir():
        raise ConfigError(f"{folder} is not a folder; use one with prompts, skills or rules")
    files: list[Path] = []
    errors: list[OSError] = []
    links: list[Path] = []
    for at, folders, names in os.walk(folder, onerror=errors.append):
        folders[:] = [name for name in folders if name not in SKIPPED]
        texts = [Path(at, name) for name in names if _is_text(Path(name))]
        links += [path for path in (*texts, *(Path(at, f) for f in folders)) if path.is_symlink()]
        files += [path for path in texts if not path.is_symlink()]
    if len(files) > MOST_FILES:
        raise ConfigError(
            f"{folder} has {len(files):,} text files, but at most {MOST_FILES:,} can be searched; "
            "choose a folder inside it"
        )
    inside = os.path.realpath(folder)
    outside = [path for path in links if not Path(os.path.realpath(path)).is_relative_to(inside)]
    leads = "is a link that points outside the folder; add its target too"
    return sorted(files), [
        *(UnreadText(_label(path, folder), leads) for path in sorted(outside)),
        *(_unreadable(_label(Path(error.filename), folder), error) for error in errors),
    ]


def _is_text(path: Path) -> bool:
    return path.suffix.lower() in _SUFFIXES or BARE.fullmatch(path.name) is not None


def _search(path: Path, folder: Path, gone: GoneNames) -> TextSearch:
    label = _label(path, folder)
    try:
        if path.stat().st_size > LARGEST:
            return TextSearch(unread=(_too_large(label),))
        return search_text(label, read_file(path), gone)
    except OSError as error:
        return TextSearch(unread=(_unreadable(label, error),))


def _too_large(file: str) -> UnreadText:
    return UnreadText(file, f"has more than {LARGEST / 1e6:g} MB; split it")


def _unreadable(file: str, error: OSError) -> UnreadText:
    return UnreadText(file, f"cannot be read: {error.strerror}")


def _label(path: Path, folder: Path) -> str:
    return writable(str(path if path == folder else folder / path.relative_to(folder)))
