"""Vectors on disk, so that each model embeds a text only once.

The cache stores vectors of texts, vectors of their tokens (int8, memory-mapped), and numbers
computed from the vectors.
"""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from toolscope_core.files.folders import put, read_sealed, unusable, write_sealed
from toolscope_core.model import protocols
from toolscope_core.model.protocols import Vectors

_Kind = TypeVar("_Kind", np.int64, np.float64)

_MAGIC = b"TSVEC001"
_HEADER = struct.Struct("<8sII")
_KEY_BYTES = 32
_MOST_FILES = 24


class VectorCache:
    """Vectors per (model, SHA-256 of the text) in a folder, with one subfolder per model.

    Every ``write`` makes a new file that is named by the SHA-256 of its bytes. So files are
    complete or absent, a damaged file no longer matches its name and is removed when it is read,
    and concurrent writers cannot overwrite each other. Many small files are merged now and then. At
    worst, entries are lost and their texts are embedded again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The folder of all caches."""

    def read(self, model: str, texts: Sequence[str]) -> dict[str, Vectors]:
        """The cached vectors of ``texts``, by text, each float32 of shape (d,)."""
        text_by_key = {text_key(text): text for text in texts}
        if not text_by_key:
            return {}
        return {
            text_by_key[key]: vector
            for path in self._files(model)
            for key, vector in _entries(path)
            if key in text_by_key
        }

    def write(self, model: str, vectors: Mapping[str, Vectors]) -> None:
        """Store the vector of each text. Raises ``ConfigError`` if the folder is unusable."""
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
        new_file = _write_file(self._model_folder(model), entries)
        for path in files:
            if path != new_file:
                path.unlink(missing_ok=True)

    def _files(self, model: str) -> list[Path]:
        return sorted(self._model_folder(model).glob("*.vec"))

    def _model_folder(self, model: str) -> Path:
        return self.folder / "vectors" / text_key(model).hex()[:32]


class ArrayCache:
    """Numbers computed from a set of vectors, stored in a folder with one small file per array."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def counts(self, key: str, size: int) -> NDArray[np.int64] | None:
        """The ``size`` integers that are cached under this key; ``None`` if there are none."""
        return self._read(key, (size,), np.int64)

    def points(self, key: str, shape: tuple[int, ...]) -> NDArray[np.float64] | None:
        """The float64 numbers of this shape that are cached under this key; ``None`` if there are
        none.
        """
        return self._read(key, shape, np.float64)

    def write(self, key: str, values: NDArray[np.int64] | NDArray[np.float64]) -> None:
        """Store the values. Raises ``ConfigError`` if the folder is unusable."""
        body = values.astype(values.dtype.newbyteorder("<")).tobytes()
        write_sealed(self._folder, f"counts/{key}.cnt", body)

    def _read(self, key: str, shape: tuple[int, ...], kind: type[_Kind]) -> NDArray[_Kind] | None:
        body = read_sealed(self._folder / f"counts/{key}.cnt")
        if body is None or len(body) != 8 * math.prod(shape):
            return None
        values = np.frombuffer(body, dtype=np.dtype(kind).newbyteorder("<"))
        return values.reshape(shape).astype(kind)


def text_key(text: str) -> bytes:
    """The SHA-256 of a text, which may contain any code points."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _write_file(folder: Path, entries: Mapping[bytes, Vectors]) -> Path:
    """Write ``entries`` in one step to a file that is named by the hash of its bytes."""
    matrix = np.stack(list(entries.values())).astype("<f4")
    body = _HEADER.pack(_MAGIC, *matrix.shape) + b"".join(entries) + matrix.tobytes()
    path = folder / f"{hashlib.sha256(body).hexdigest()}.vec"
    put(path, body)
    return path


def _entries(path: Path) -> Iterator[tuple[bytes, Vectors]]:
    """The keys and vectors in a file; a damaged file is removed and gives none."""
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


TokenCodes = NDArray[np.int8]

TOKEN_CHUNK = 1_024
"""The number of texts per file; an interrupted run keeps every finished file."""
STEPS = 127
"""A component of a normalised vector, from -1 to 1, is stored as a whole number of 127ths."""

_TOKEN_MAGIC = b"TSTOK001"
_ENTRY = struct.Struct("<32sQII")


class TokenCache:
    """Token vectors per (model, SHA-256 of the text) in a folder.

    A file consists of a table (key, offset, tokens, CRC-32 of the codes), the SHA-256 of the table,
    and the codes. Files are complete or absent. A file with a damaged table is removed. A text with
    damaged codes counts as missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ensure(
        self,
        texts: Sequence[str],
        embedder: protocols.TokenEmbedder,
        progress: protocols.Progress = protocols.silent,
    ) -> TokenVectors:
        """The token vectors of ``texts``; missing ones are computed and stored.

        The same pass stores the vectors of the texts. Reports ``Step("tokens", …)`` in distinct
        texts. Raises ``ConfigError`` if the folder is unusable, and ``ModelError`` in the same
        cases as the embedder.
        """
        distinct = dict.fromkeys(texts)
        places = self._read(embedder.name, distinct)
        missing = sorted(distinct.keys() - places.keys(), key=lambda text: (len(text), text))
        cache = VectorCache(self._folder)
        with_vector = cache.read(embedder.name, missing).keys()
        for start in range(0, len(missing), TOKEN_CHUNK):
            progress(protocols.Step("tokens", len(distinct) - len(missing) + start, len(distinct)))
            part = missing[start : start + TOKEN_CHUNK]
            vectors, tokens = embedder.encode_with_tokens(part)
            self.write(embedder.name, dict(zip(part, map(coded, tokens), strict=True)))
            by_text = zip(part, vectors, strict=True)
            if new := {text: vector for text, vector in by_text if text not in with_vector}:
                cache.write(embedder.name, new)
        progress(protocols.Step("tokens", len(distinct), len(distinct)))
        return TokenVectors(self._read(embedder.name, distinct) if missing else places, embedder)

    def _read(self, model: str, texts: Iterable[str]) -> dict[str, _Place]:
        text_by_key = {text_key(text): text for text in texts}
        places: dict[str, _Place] = {}
        for path in sorted(self._model_folder(model).glob("*.tok")):
            places |= {text_by_key[key]: place for key, place in _table(path) if key in text_by_key}
        return places

    def write(self, model: str, codes: Mapping[str, TokenCodes]) -> None:
        """Store the codes of each text; there must be at least one text.

        Raises ``ConfigError`` in the same case as ``ensure``.
        """
        width = next(iter(codes.values())).shape[1]
        table, offset = bytearray(), _HEADER.size + _ENTRY.size * len(codes) + 32
        for text, rows in codes.items():
            table += _ENTRY.pack(text_key(text), offset, len(rows), zlib.crc32(rows.tobytes()))
            offset += rows.size
        head = _HEADER.pack(_TOKEN_MAGIC, len(codes), width) + bytes(table)
        seal = hashlib.sha256(head).digest()
        body = head + seal + b"".join(rows.tobytes() for rows in codes.values())
        folder = self._model_folder(model)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            put(folder / f"{seal.hex()}.tok", body)
        except OSError as error:
            raise unusable(self._folder, error) from error

    def _model_folder(self, model: str) -> Path:
        return self._folder / "tokens" / text_key(model).hex()[:32]


class TokenVectors:
    """Token vectors of texts, read from the mapped files on demand."""

    def __init__(self, places: Mapping[str, _Place], embedder: protocols.TokenEmbedder) -> None:
        self._places = places
        self._embedder = embedder

    def of(self, text: str) -> Vectors:
        """The token vectors of a text: float32 (tokens, d), rows of length about 1.

        They are computed again if the stored ones are damaged.
        """
        return decoded(self.codes(text))

    def codes(self, text: str) -> TokenCodes:
        """The token vectors of a text as int8 in units of 1/127."""
        place = self._places.get(text)
        codes = place.codes() if place else None
        return coded(self._embedder.encode_with_tokens([text])[1][0]) if codes is None else codes


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """The place of a text's codes in a mapped file."""

    file: NDArray[np.uint8]
    offset: int
    shape: tuple[int, int]
    checksum: int

    def codes(self) -> TokenCodes | None:
        """The codes: int8 of shape (tokens, d); ``None`` if the bytes have changed since they were
        written.
        """
        size = self.shape[0] * self.shape[1]
        body = self.file[self.offset : self.offset + size].tobytes()
        if len(body) != size or zlib.crc32(body) != self.checksum:
            return None
        return np.frombuffer(body, dtype=np.int8).reshape(self.shape)


def coded(vectors: Vectors) -> TokenCodes:
    """Normalised rows, converted to integers in units of 1/127."""
    return np.clip(np.rint(vectors * STEPS), -STEPS, STEPS).astype(np.int8)


def decoded(codes: TokenCodes) -> Vectors:
    """The rows that the codes stand for: float32, of length about 1."""
    return codes.astype(np.float32) * np.float32(1 / STEPS)


def _table(path: Path) -> list[tuple[bytes, _Place]]:
    """The keys in a file and the places of their codes; a file with a damaged table is removed."""
    try:
        if path.stat().st_size < _HEADER.size:
            path.unlink(missing_ok=True)
            return []
        file: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        _, count, width = _HEADER.unpack_from(file[: _HEADER.size].tobytes())
        end = _HEADER.size + _ENTRY.size * count
        head, seal = file[:end].tobytes(), file[end : end + 32].tobytes()
        if hashlib.sha256(head).digest() != seal or seal.hex() != path.stem:
            path.unlink(missing_ok=True)
            return []
    except OSError:
        return []
    rows = _ENTRY.iter_unpack(head[_HEADER.size :])
    return [
        (key, _Place(file, offset, (tokens, width), checksum))
        for key, offset, tokens, checksum in rows
    ]


CHUNK = 512
PIECE = 128
"""The number of texts between two reports of progress."""


def embed_cached(
    texts: Sequence[str],
    embedder: protocols.Embedder,
    cache: VectorCache,
    progress: protocols.Progress = protocols.silent,
    *,
    keep_tokens: bool = False,
    engine: protocols.Engine = protocols.LOCAL,
) -> Vectors:
    """The vectors: float32 of shape (len(texts), d) in the order of ``texts``; (0, 0) for no texts.

    Each distinct text is encoded at most once, short texts first. Each chunk is stored before the
    next one starts, so an interrupted run continues where it stopped. ``keep_tokens`` also stores
    token vectors from the same pass for a later search, if the embedder provides them. A local
    embedder encodes on the workers of ``engine``; the embedder of an endpoint encodes here, where
    its key is. Reports ``Step("embed", …)`` in distinct texts; ``progress`` may raise to cancel.
    """
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    vectors = cache.read(embedder.name, distinct)
    missing = [text for text in distinct if text not in vectors]
    progress(protocols.Step("embed", len(vectors), len(distinct)))
    runner = protocols.LOCAL if isinstance(embedder, protocols.RemoteModel) else engine
    size = min(PIECE, CHUNK)
    pieces = [missing[start : start + size] for start in range(0, len(missing), size)]
    encode = partial(_encode, keep_tokens)
    results = runner.map_blocks(encode, protocols.SharedState(embedder), pieces)
    fresh: dict[str, Vectors] = {}
    codes: dict[str, TokenCodes] = {}
    for at, (piece, (encoded, tokens)) in enumerate(zip(pieces, results, strict=True), 1):
        fresh.update(zip(piece, encoded, strict=True))
        codes.update(zip(piece, tokens, strict=False))
        if len(fresh) >= CHUNK or at == len(pieces):
            cache.write(embedder.name, fresh)
            if codes:
                TokenCache(cache.folder).write(embedder.name, codes)
            vectors.update(fresh)
            fresh, codes = {}, {}
        progress(protocols.Step("embed", len(vectors) + len(fresh), len(distinct)))
    if not vectors:
        return np.zeros((0, 0), dtype=np.float32)
    return np.stack([vectors[text] for text in texts])


def _encode(
    keep_tokens: bool, embedder: protocols.Embedder, texts: list[str]
) -> tuple[Vectors, list[TokenCodes]]:
    """The vectors of texts, and the codes of their tokens if ``keep_tokens`` is set."""
    if keep_tokens and isinstance(embedder, protocols.TokenEmbedder):
        encoded, tokens = embedder.encode_with_tokens(texts)
        return encoded, list(map(coded, tokens))
    return embedder.encode(texts), []
