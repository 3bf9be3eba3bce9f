"""The zip that the Export page gives: the files of one client or API, and the whole bundle."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolscope_core.catalog.bundle_versions import PROFILE_FOLDER
from toolscope_core.catalog.clients.client import Client
from toolscope_core.catalog.formats.target import Target
from toolscope_core.files.archives import BUNDLE_BELOW
from toolscope_core.model.tool import canonical_json

HOME = f"{BUNDLE_BELOW}/"
"""Where the bundle lies in the zip, as the command ``merge`` writes it."""


def files_for(use: Target, bundle: Iterable[str]) -> tuple[str, ...]:
    """Those of a bundle's files, by name, that ``use`` takes: of a client what switches tools off
    or leaves them to its search, none where none is, and the toolset or its parts in a format; of
    each profile the same.
    """
    own = {name: _in_profile(name)[1] for name in bundle}
    if isinstance(use, Client):
        files = {use.file, use.search.file if use.search else use.file}
        return tuple(name for name, file in own.items() if file in files)
    return tuple(name for name, file in own.items() if file.startswith("toolset"))


def where_it_goes(use: Target, name: str) -> str:
    """Where one of those files goes, in Markdown."""
    return use.goes_to(_in_profile(name)[1]) if isinstance(use, Client) else use.goes


def name_in_zip(name: str) -> str:
    """The name that a file of the bundle has at the top of the zip, or in a profile's folder."""
    profile, own = _in_profile(name)
    return f"{profile}{own.rpartition('/')[2]}"


def _in_profile(name: str) -> tuple[str, str]:
    """The folder of the profile that a file of the bundle is of, or nothing, and its name there."""
    if not name.startswith(PROFILE_FOLDER):
        return "", name
    profile, _, own = name.removeprefix(PROFILE_FOLDER).partition("/")
    return f"{PROFILE_FOLDER}{profile}/", own


def zip_files(
    bundle: Mapping[str, bytes], use: Target, catalog: str, date: str
) -> dict[str, bytes]:
    """File name → content of the zip, in its order: a README, the files for ``use``, and below
    ``HOME`` the bundle, unchanged. ``catalog`` and the ``date`` at which it was loaded are said in
    the README, as no clock is read.
    """
    own = files_for(use, bundle)
    files = {name_in_zip(name): bundle[name] for name in own}
    lines = _readme(use, own, catalog, date)
    return {
        "README.md": ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"),
        **files,
        **{f"{HOME}{name}": content for name, content in bundle.items()},
    }


def _readme(use: Target, files: Sequence[str], catalog: str, date: str) -> Iterator[str]:
    yield from (f"# Tools for {use.title}", "", "Written by ToolScope from the catalog")
    yield from ("", f"    {canonical_json({'name': catalog, 'loaded': date})}", "")
    yield from ("## Where each file goes", "")
    yield from (f"- `{name_in_zip(name)}`: {where_it_goes(use, name)}" for name in files)
    if not files:
        yield f"- Nothing for {use.title}: no merge here lets a tool of a server be switched off."
    yield f"- `{HOME}`: everything else, for the record and for ToolScope's commands. Its"
    yield "  `README.md` says what each file is and how old calls become new ones."
    if isinstance(use, Client):
        yield from ("", "Merges that need a gateway are in no client's file, nor are new names and")
        yield "parameters of edited tools. This is a server that answers for them, with the"
        yield "servers of `mcp.json` behind it:"
        yield from ("", f"    python -m toolscope_core serve {HOME[:-1]} --config mcp.json")
