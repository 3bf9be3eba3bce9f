"""Vectors on disk, so that a text is embedded once per model, and numbers computed from them."""

import hashlib
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from toolscope_core.files.folders import put, read_sealed, unusable, write_sealed
from toolscope_core.model.protocols import Vectors

Kind = TypeVar("Kind", np.int64, np.float64)

_MAGIC = b"TSVEC001"
_HEADER = struct.Struct("<8sII")
_KEY_BYTES = 32
_MOST_FILES = 24


class VectorCache:
    """Vectors per (model, SHA-256 of the text) in a folder, one subfolder per model.

    Every ``write`` makes one new file whose name is the SHA-256 of its bytes: files are complete
    or absent, a damaged one no longer matches its name and is removed when read, and concurrent
    writers cannot overwrite each other. Many small files are folded into one now and then; at
    worst that loses entries, which are then embedded again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """Where everything that is cached lies."""

    def read(self, model: str, texts: Sequence[str]) -> dict[str, Vectors]:
        """The cached vectors of ``texts``, by text, each float32 of shape (d,)."""
        wanted = {text_key(text): text for text in texts}
        if not wanted:
            return {}
        return {
            wanted[key]: vector
            for path in self._files(model)
            for key, vector in _entries(path)
            if key in wanted
        }

    def write(self, model: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep the vector of each text. Raises ``ConfigError`` where the folder is unusable."""
        folder = self._model_folder(model)
        entries = {text_key(text): vector for text, vector in vectors.items()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_file(folder, entries)
            self._fold(model)
        except OSError as error:
            raise unusable(self.folder, error) from error

    def _fold(self, model: str) -> None:
        files = self._files(model)
        if len(files) <= _MOST_FILES:
            return
        entries = {key: vector for path in files for key, vector in _entries(path)}
        kept = _write_file(self._model_folder(model), entries)
        for path in files:
            if path != kept:
                path.unlink(missing_ok=True)

    def _files(self, model: str) -> list[Path]:
        return sorted(self._model_folder(model).glob("*.vec"))

    def _model_folder(self, model: str) -> Path:
        return self.folder / "vectors" / text_key(model).hex()[:32]


class ArrayCache:
    """Numbers computed from a set of vectors, in a folder, one small file for each array."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def counts(self, key: str, size: int) -> NDArray[np.int64] | None:
        """The ``size`` cached whole numbers under this key; ``None`` where there are none."""
        return self._read(key, (size,), np.int64)

    def points(self, key: str, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
        """The cached float64 numbers of this shape under this key; ``None`` without any."""
        return self._read(key, shape, np.float64)

    def write(self, key: str, values: NDArray[np.int64] | NDArray[np.float64]) -> None:
        """Keep the values. Raises ``ConfigError`` where the folder is unusable."""
        body = values.astype(values.dtype.newbyteorder("<")).tobytes()
        write_sealed(self._folder, f"counts/{key}.cnt", body)

    def _read(self, key: str, shape: tuple[int, ...], kind: type[Kind]) -> NDArray[Kind] | None:
        body = read_sealed(self._folder / f"counts/{key}.cnt")
        if body is None or len(body) != 8 * math.prod(shape):
            return None
        values = np.frombuffer(body, dtype=np.dtype(kind).newbyteorder("<"))
        return values.reshape(shape).astype(kind)


def text_key(text: str) -> bytes:
    """The SHA-256 of a text, whatever code points it holds."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _write_file(folder: Path, entries: Mapping[bytes, Vectors]) -> Path:
    """One file of ``entries`` under the hash of its bytes, put in place in one step."""
    matrix = np.stack(list(entries.values())).astype("<f4")
    body = _HEADER.pack(_MAGIC, *matrix.shape) + b"".join(entries) + matrix.tobytes()
    path = folder / f"{hashlib.sha256(body).hexdigest()}.vec"
    put(path, body)
    return path


def _entries(path: Path) -> Iterator[tuple[bytes, Vectors]]:
    """Keys and vectors of a file; none, and the file is removed, if it is damaged."""
    try:
        body = path.read_bytes()
        if hashlib.sha256(body).hexdigest() != path.stem:
            path.unlink(missing_ok=True)
            return
    except OSError:
        return
    magic, rows, width = _HEADER.unpack_from(body)
    if magic != _MAGIC:
        return
    start = _HEADER.size + rows * _KEY_BYTES
    matrix = np.frombuffer(body, dtype="<f4", offset=start).reshape(rows, width)
    for row, vector in enumerate(matrix):
        at = _HEADER.size + row * _KEY_BYTES
        yield body[at : at + _KEY_BYTES], vector
