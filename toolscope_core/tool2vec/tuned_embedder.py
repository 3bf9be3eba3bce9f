"""An embedder tuned with a triplet loss on requests and the tools that serve them (§5.1)."""

import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.embedding.encoders import SentenceEmbedder, loaded_encoder, triplet_loss
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached, text_key
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.files import folders
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.tool2vec.encoder_layers import batches_by_length, train_in_batches
from toolscope_core.tool2vec.linear_head import UsageVectors
from toolscope_core.tool2vec.training_queries import TrainingQueries, training_queries
from toolscope_core.wording.tool_text import tool_text

_BATCH, RATE, MARGIN = 16, 2e-5, 0.2

Triplet = tuple[str, str, str]
"""A request, the text of something that serves the request, and the text of something that does
not.
"""


class TunedEmbedder:
    """A sentence-transformers model by name or folder. Raises ``ModelError`` if it cannot be
    loaded.
    """

    def __init__(self, source: str = DEFAULT_MODEL) -> None:
        self.source = source
        self._model = loaded_encoder(source)

    def train(self, triplets: Sequence[Triplet], progress: Progress = silent) -> None:
        """Train for one epoch.

        A request should be closer, by a cosine of ``MARGIN``, to the text that serves it than to
        the text that does not. Reports ``Step("tune", …)``, counted in batches; ``progress`` may
        raise to cancel.
        """
        loss = triplet_loss(self._model, MARGIN)
        requests = [request for request, _, _ in triplets]
        batches = list(batches_by_length(requests, _BATCH, np.random.default_rng(409)))

        def loss_of(rows: NDArray[np.intp]) -> Any:
            own = [triplets[at] for at in rows]
            sides = zip(*own, strict=True)
            return loss([self._model.preprocess(list(texts)) for texts in sides], None)

        train_in_batches(self._model, RATE, batches, loss_of, "tune", progress)
        self._model.eval()

    def files(self) -> dict[str, bytes]:
        """The files of a sentence-transformers model by name, with the weights as safetensors."""
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            self._model.save(str(folder), create_model_card=False, safe_serialization=True)
            paths = (path for path in folder.rglob("*") if path.is_file())
            return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


MOST_TRIPLETS, SECONDS_A_TRIPLET = 2_000, 0.44
"""The most triplets in an epoch and the seconds for each: with UltraTool's long requests they take
a quarter of an hour on two cores.
"""
MISTAKEN = 10
"""The negatives of a request are drawn from this many of the nearest tools."""


def triplets_of(
    queries: TrainingQueries, vectors: Vectors, centres: Vectors, own: Sequence[str]
) -> list[tuple[str, str, str]]:
    """A triplet for each request and tool that serves it, recorded requests first.

    ``vectors`` are the vectors of the queries' texts, (n, d), ``centres`` the tools' Tool2Vec
    vectors, (m, d), and ``own`` the tools' texts. A tool is represented by one of its queries, or
    by its own text if it has none. The positive is another query of the serving tool. The negative
    is a query that none of the request's serving tools serves.
    """
    generator = np.random.default_rng(409)
    texts_by_tool: dict[int, list[int]] = {}
    for text, tool in zip(queries.at.tolist(), queries.tool.tolist(), strict=True):
        texts_by_tool.setdefault(tool, []).append(text)

    def stands_for(tool: int, but: Collection[int]) -> str:
        others = [one for one in texts_by_tool.get(tool, ()) if one not in but]
        return queries.texts[generator.choice(others)] if others else own[tool]

    triplets = []
    for place in _sampled_places(queries, generator).tolist():
        text, tool = int(queries.at[place]), int(queries.tool[place])
        serving = queries.tool[queries.at == text]
        nearest = np.argsort(-(centres @ vectors[text]), kind="stable")
        candidates = nearest[: MISTAKEN + len(serving)]
        wrong = candidates[~np.isin(candidates, serving)]
        if len(wrong):
            mistaken = int(generator.choice(wrong))
            texts_served = {one for right in serving.tolist() for one in texts_by_tool[right]}
            triplets.append(
                (queries.texts[text], stands_for(tool, {text}), stands_for(mistaken, texts_served))
            )
    return triplets


def _sampled_places(queries: TrainingQueries, generator: np.random.Generator) -> NDArray[np.intp]:
    """The positions of at most ``MOST_TRIPLETS`` pairs of a text and a tool.

    Pairs with recorded texts come first, and then the other pairs, each group in random order.
    """
    recorded = queries.recorded[queries.at]
    first, rest = np.flatnonzero(recorded), np.flatnonzero(~recorded)
    places = np.concatenate([generator.permutation(first), generator.permutation(rest)])
    return places[:MOST_TRIPLETS]


_QUERIES = "queries.json"
"""The file beside a tuned model with the hashes of the recorded texts from which
the model learned.
"""


@dataclass(frozen=True, slots=True)
class EmbedderFiles:
    """The files of a tuned embedder by name, and the number of triplets from which the embedder
    learned.
    """

    files: Mapping[str, bytes]
    triplets: int

    def write(self, folder: Path) -> None:
        """Write the files into a folder. Raises ``ExportError`` if the folder contains anything
        else.
        """
        program = folders.EMBEDDER_PROGRAM
        manifest = {folders.MANIFEST: folders.manifest_of(self.files, program)}
        folders.write_folder({**self.files, **manifest}.items(), folder, program)


def tuned_files(
    tools: Iterable[Tool],
    queries: Iterable[Query],
    variants: Mapping[str, Augmentation],
    cache: VectorCache,
    source: str = DEFAULT_MODEL,
    progress: Progress = silent,
) -> EmbedderFiles:
    """A model, by name or folder, tuned for one epoch on queries and the questions of ``variants``
    with a triplet loss (§5.1).

    Raises ``ModelError`` if the model cannot be loaded, ``ConfigError`` if too few queries name a
    tool.
    """
    own = sorted(with_variants(tools, variants), key=lambda tool: tool.id)
    lessons = training_queries(queries, variants, [tool.id for tool in own])
    encoder, texts = SentenceEmbedder(source), tuple(map(tool_text, own))
    vectors = embed_cached(lessons.texts, encoder, cache, progress)
    centres = UsageVectors.of(lessons, vectors).vectors(
        embed_cached(texts, encoder, cache, progress)
    )
    triplets = triplets_of(lessons, vectors, centres, texts)
    tuned = TunedEmbedder(source)
    tuned.train(triplets, progress)
    recorded = [lessons.texts[row] for row in np.flatnonzero(lessons.recorded)]
    learned = json.dumps(sorted(text_key(text).hex()[:16] for text in recorded)).encode()
    return EmbedderFiles({**tuned.files(), _QUERIES: learned}, len(triplets))


def learned_texts(folder: Path) -> Callable[[str], bool]:
    """Tells whether a tuned embedder learned from exactly a given text. For another model the
    answer is always no.
    """
    try:
        keys = frozenset(json.loads(folders.read_file(folder / _QUERIES)))
    except folders.DAMAGE:
        keys = frozenset()
    return lambda text: text_key(text).hex()[:16] in keys
