"""Exported bundles that were uploaded to be measured, kept as folders in the cache."""

import hashlib
import re
import shutil
import tempfile
from pathlib import Path

from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.evaluation.measured_toolsets import Toolset, of_bundle
from toolscope_core.files.archives import bundle_files_in
from toolscope_core.files.cache_files import put, unusable
from toolscope_core.merging.relabelling import read_relabelling
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import digest

PREFIX = "bundle "
_UNSAFE = re.compile(r"[^A-Za-z0-9-]+")


class UploadedBundles:
    """Bundles by catalog, each under a name made of its file's name and a hash of its content."""

    def __init__(self, cache_dir: Path) -> None:
        self._folder = cache_dir / "bundles"

    def add(self, catalog: Catalog, name: str, content: bytes, file: str) -> str:
        """Keep the bundle of a catalog called ``name``; what it is called as a toolset.

        Raises ``ConfigError`` for a file that is no zip of a bundle, or a bundle of other tools;
        ``ExportError`` and ``CatalogError`` for a damaged one.
        """
        stem = _UNSAFE.sub("-", Path(file).stem)[:40].strip("-") or "bundle"
        called = f"{stem}-{hashlib.sha256(content).hexdigest()[:8]}"
        if PREFIX + called in self.names(name):
            return PREFIX + called
        files, folder = bundle_files_in(content, file), self._of(name)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".", dir=folder) as partial:
                for member, body in files.items():
                    if member.endswith(".json") and "/" not in member:
                        put(Path(partial) / member, body)
                self._read(Path(partial), catalog, called)
                shutil.copytree(partial, folder / called, dirs_exist_ok=True)
        except OSError as error:
            raise unusable(self._folder, error) from error
        return PREFIX + called

    def names(self, name: str) -> tuple[str, ...]:
        """What the bundles of a catalog are called as toolsets, sorted."""
        folder = self._of(name)
        kept = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return tuple(PREFIX + one for one in sorted(kept) if not one.startswith("."))

    def toolset(self, catalog: Catalog, name: str, side: str) -> Toolset:
        """The toolset of a bundle in ``names``. Raises as ``add`` does."""
        if side not in self.names(name):
            raise ConfigError(f"there is no toolset {side!r}; choose another")
        return self._read(self._of(name) / side.removeprefix(PREFIX), catalog, side)

    def _of(self, name: str) -> Path:
        return self._folder / digest(name)[:16]

    def _read(self, folder: Path, catalog: Catalog, called: str) -> Toolset:
        relabelling = read_relabelling(folder)
        if foreign := sorted(catalog.by_id.keys() - relabelling.phi.keys()):
            raise ConfigError(
                f"{called} says nothing of {foreign[0]}; give a bundle that was exported from this "
                "version of the catalog"
            )
        return of_bundle(read_isolated(load_paths([folder])), relabelling, called)
