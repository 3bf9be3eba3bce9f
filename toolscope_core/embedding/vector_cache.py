"""Vectors on disk, so that each model embeds a text only once.

The cache stores vectors of texts, vectors of their tokens (int8, memory-mapped), and numbers
computed from the vectors.
"""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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
        self.folder = folder

    def open(self, texts: Iterable[str], embedder: protocols.TokenEmbedder) -> TokenVectors:
        """The stored token vectors of ``texts``."""
        return TokenVectors(self, embedder, self.read(embedder.name, texts))

    def ensure(self, texts: Sequence[str], embedder: protocols.TokenEmbedder) -> TokenVectors:
        """The token vectors of ``texts``; missing ones are computed and stored.

        Raises as ``encode_new`` does.
        """
        vectors = self.open(texts, embedder)
        vectors.ensure(texts)
        return vectors

    def read(self, model: str, texts: Iterable[str]) -> dict[str, _Place]:
        """The places of the stored codes, by text."""
        text_by_key = {text_key(text): text for text in texts}
        places: dict[str, _Place] = {}
        for path in sorted(self._model_folder(model).glob("*.tok")):
            places |= {text_by_key[key]: place for key, place in _table(path) if key in text_by_key}
        return places

    def write(self, model: str, codes: Mapping[str, TokenCodes]) -> dict[str, _Place]:
        """Store the codes of each text, and return their places; there must be at least one text.

        Raises ``ConfigError`` if the folder is unusable.
        """
        folder, text_by_key = self._model_folder(model), {text_key(text): text for text in codes}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = _write_codes(folder, {key: codes[text] for key, text in text_by_key.items()})
            places = {text_by_key[key]: place for key, place in _table(path)}
            self._fold(folder)
        except OSError as error:
            raise unusable(self.folder, error) from error
        return places

    def _fold(self, folder: Path) -> None:
        """Join small files if there are many."""
        small = [path for path in sorted(folder.glob("*.tok")) if _size(path) < CHUNK]
        if len(small) <= _MOST_FILES:
            return
        places = {key: place for path in small for key, place in _table(path)}
        codes = {key: codes for key, one in places.items() if (codes := one.codes()) is not None}
        new_file = _write_codes(folder, codes) if codes else None
        for path in small:
            if path != new_file:
                with suppress(OSError):  # on Windows, a file that is mapped stays
                    path.unlink(missing_ok=True)

    def _model_folder(self, model: str) -> Path:
        return self.folder / "tokens" / text_key(model).hex()[:32]


class TokenVectors:
    """Token vectors of texts, read from the mapped files on demand."""

    def __init__(
        self, cache: TokenCache, embedder: protocols.TokenEmbedder, places: dict[str, _Place]
    ) -> None:
        self._cache, self._embedder, self._places = cache, embedder, places
        self._vectors = VectorCache(cache.folder)

    def ensure(
        self, texts: Iterable[str], progress: protocols.Progress = protocols.silent
    ) -> dict[str, Vectors]:
        """Compute and store what is missing, and return the vectors of the texts computed.

        Raises and reports as ``encode_new`` does.
        """
        unread = set(texts) - self._places.keys()
        if unread:  # another search may have stored them
            self._places.update(self._cache.read(self._embedder.name, unread))
        missing = by_length(unread - self._places.keys())
        return encode_new(missing, self._embedder, self._vectors, progress, keep_tokens=self._keep)

    def _keep(self, codes: Mapping[str, TokenCodes]) -> None:
        self._places.update(self._cache.write(self._embedder.name, codes))

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


def _write_codes(folder: Path, codes: Mapping[bytes, TokenCodes]) -> Path:
    """Write ``codes`` in one step to a file that is named by the hash of its table."""
    width = next(iter(codes.values())).shape[1]
    table, offset = bytearray(), _HEADER.size + _ENTRY.size * len(codes) + 32
    for key, rows in codes.items():
        table += _ENTRY.pack(key, offset, len(rows), zlib.crc32(rows.tobytes()))
        offset += rows.size
    head = _HEADER.pack(_TOKEN_MAGIC, len(codes), width) + bytes(table)
    seal = hashlib.sha256(head).digest()
    path = folder / f"{seal.hex()}.tok"
    put(path, head + seal + b"".join(rows.tobytes() for rows in codes.values()))
    return path


def _size(path: Path) -> int:
    """The number of texts in a file, as its header says; 0 for a file without one."""
    try:
        with path.open("rb") as file:
            return int(_HEADER.unpack(file.read(_HEADER.size))[1])
    except (OSError, struct.error):
        return 0


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
    distinct = by_length(set(texts))
    vectors = cache.read(embedder.name, distinct)
    missing = [text for text in distinct if text not in vectors]

    def report(step: protocols.Step) -> None:
        stored = len(distinct) - len(missing)
        progress(protocols.Step(step.stage, stored + step.done, len(distinct)))

    tokens = partial(TokenCache(cache.folder).write, embedder.name) if keep_tokens else None
    vectors |= encode_new(missing, embedder, cache, report, keep_tokens=tokens, engine=engine)
    if not vectors:
        return np.zeros((0, 0), dtype=np.float32)
    return np.stack([vectors[text] for text in texts])


def by_length(texts: Iterable[str]) -> list[str]:
    """The order in which texts are encoded: short ones first."""
    return sorted(texts, key=lambda text: (len(text), text))


def encode_new(
    texts: Sequence[str],
    embedder: protocols.Embedder,
    cache: VectorCache,
    progress: protocols.Progress = protocols.silent,
    *,
    keep_tokens: Callable[[Mapping[str, TokenCodes]], object] | None = None,
    engine: protocols.Engine = protocols.LOCAL,
) -> dict[str, Vectors]:
    """The vectors of distinct texts that are not in the cache, by text; they are stored there.

    ``keep_tokens`` stores the codes of their tokens. See ``embed_cached``. Raises ``ConfigError``
    if the folder is unusable, and ``ModelError`` in the same cases as the embedder.
    """
    progress(protocols.Step("embed", 0, len(texts)))
    runner = protocols.LOCAL if isinstance(embedder, protocols.RemoteModel) else engine
    size = min(PIECE, CHUNK)
    pieces = [list(texts[start : start + size]) for start in range(0, len(texts), size)]
    encode = partial(_encode, keep_tokens is not None)
    results = runner.map_blocks(encode, protocols.SharedState(embedder), pieces)
    vectors: dict[str, Vectors] = {}
    fresh: dict[str, Vectors] = {}
    codes: dict[str, TokenCodes] = {}
    for at, (piece, (encoded, tokens)) in enumerate(zip(pieces, results, strict=True), 1):
        fresh.update(zip(piece, encoded, strict=True))
        codes.update(zip(piece, tokens, strict=False))
        if len(fresh) >= CHUNK or at == len(pieces):
            cache.write(embedder.name, fresh)
            if codes and keep_tokens:
                keep_tokens(codes)
            vectors.update(fresh)
            fresh, codes = {}, {}
        progress(protocols.Step("embed", len(vectors) + len(fresh), len(texts)))
    return vectors


def _encode(
    keep_tokens: bool, embedder: protocols.Embedder, texts: list[str]
) -> tuple[Vectors, list[TokenCodes]]:
    """The vectors of texts, and the codes of their tokens if ``keep_tokens`` is set."""
    if keep_tokens and isinstance(embedder, protocols.TokenEmbedder):
        encoded, tokens = embedder.encode_with_tokens(texts)
        return encoded, list(map(coded, tokens))
    return embedder.encode(texts), []
