"""Token vectors on disk in int8: memory-mapped, a text once per model, checked when it is read."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import VectorCache, text_key
from toolscope_core.files.folders import put, unusable
from toolscope_core.model.protocols import Progress, Step, TokenEmbedder, Vectors, silent

TokenCodes = NDArray[np.int8]

CHUNK = 1_024
"""Texts in a file: what an interrupted run keeps."""
STEPS = 127
"""A component of a normalised vector, -1 to 1, is kept as a whole number of 127ths."""

_MAGIC = b"TSTOK001"
_HEADER = struct.Struct("<8sII")
_ENTRY = struct.Struct("<32sQII")


class TokenCache:
    """Token vectors per (model, SHA-256 of the text) in a folder.

    A file holds a table (key, offset, tokens, CRC-32 of the codes), the SHA-256 of the table, and
    the codes. Files are complete or absent. One whose table is damaged is removed; a text whose
    codes are damaged counts as absent.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ensure(
        self, texts: Sequence[str], embedder: TokenEmbedder, progress: Progress = silent
    ) -> TokenVectors:
        """The token vectors of ``texts``; those that are not there yet are computed and kept, and
        from the same pass the vectors of the texts.

        Reports ``Step("tokens", …)`` in distinct texts. Raises ``ConfigError`` where the folder is
        unusable, ``ModelError`` as the embedder does.
        """
        distinct = dict.fromkeys(texts)
        places = self._read(embedder.name, distinct)
        missing = sorted(distinct.keys() - places.keys(), key=lambda text: (len(text), text))
        cache = VectorCache(self._folder)
        with_vector = cache.read(embedder.name, missing).keys()
        for start in range(0, len(missing), CHUNK):
            progress(Step("tokens", len(distinct) - len(missing) + start, len(distinct)))
            part = missing[start : start + CHUNK]
            vectors, tokens = embedder.encode_with_tokens(part)
            self.write(embedder.name, dict(zip(part, map(coded, tokens), strict=True)))
            by_text = zip(part, vectors, strict=True)
            if new := {text: vector for text, vector in by_text if text not in with_vector}:
                cache.write(embedder.name, new)
        progress(Step("tokens", len(distinct), len(distinct)))
        return TokenVectors(self._read(embedder.name, distinct) if missing else places, embedder)

    def _read(self, model: str, texts: Iterable[str]) -> dict[str, _Place]:
        wanted = {text_key(text): text for text in texts}
        places: dict[str, _Place] = {}
        for path in sorted(self._model_folder(model).glob("*.tok")):
            places |= {wanted[key]: place for key, place in _table(path) if key in wanted}
        return places

    def write(self, model: str, codes: Mapping[str, TokenCodes]) -> None:
        """Keep the codes of each text, at least one. Raises ``ConfigError`` as ``ensure`` does."""
        width = next(iter(codes.values())).shape[1]
        table, offset = bytearray(), _HEADER.size + _ENTRY.size * len(codes) + 32
        for text, rows in codes.items():
            table += _ENTRY.pack(text_key(text), offset, len(rows), zlib.crc32(rows.tobytes()))
            offset += rows.size
        head = _HEADER.pack(_MAGIC, len(codes), width) + bytes(table)
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
    """Token vectors by text, read from the mapped files when they are asked for."""

    def __init__(self, places: Mapping[str, _Place], embedder: TokenEmbedder) -> None:
        self._places = places
        self._embedder = embedder

    def of(self, text: str) -> Vectors:
        """float32 of shape (tokens, d), rows of about length 1; computed anew if damaged."""
        return decoded(self.codes(text))

    def codes(self, text: str) -> TokenCodes:
        """The same in whole numbers of 127ths, int8."""
        place = self._places.get(text)
        codes = place.codes() if place else None
        return coded(self._embedder.encode_with_tokens([text])[1][0]) if codes is None else codes


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where the codes of a text are in a mapped file."""

    file: NDArray[np.uint8]
    offset: int
    shape: tuple[int, int]
    checksum: int

    def codes(self) -> TokenCodes | None:
        """int8 of shape (tokens, d); ``None`` where the bytes are not those that were written."""
        size = self.shape[0] * self.shape[1]
        body = self.file[self.offset : self.offset + size].tobytes()
        if len(body) != size or zlib.crc32(body) != self.checksum:
            return None
        return np.frombuffer(body, dtype=np.int8).reshape(self.shape)


def coded(vectors: Vectors) -> TokenCodes:
    """Normalised rows as whole numbers of 127ths."""
    return np.clip(np.rint(vectors * STEPS), -STEPS, STEPS).astype(np.int8)


def decoded(codes: TokenCodes) -> Vectors:
    """float32 rows of about length 1."""
    return codes.astype(np.float32) * np.float32(1 / STEPS)


def _table(path: Path) -> list[tuple[bytes, _Place]]:
    """Keys and places of a file; none, and the file is removed, where its table is damaged."""
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
