"""A trained model as a small folder: weights in safetensors, the rest in JSON, with checksums."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from toolscope_core.catalog.document_variants import variant_rows
from toolscope_core.files import folders
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Augmentation
from toolscope_core.tool2vec.learned_model import REFINER, TUNED, Blend, LearnedModel
from toolscope_core.tool2vec.linear_head import LinearHead, UsageVectors
from toolscope_core.tool2vec.refiner_network import RefinerNetwork
from toolscope_core.tool2vec.tuned_classifier import TunedClassifier

_FORM = 1
TUNED_WEIGHTS, REFINER_WEIGHTS = "tuned.safetensors", "refiner.safetensors"
CARD, _WEIGHTS, _VARIANTS = "model.json", "weights.safetensors", "variants.jsonl"
_ARRAYS = ("sums", "counts", "centres", "evidence")


def write_model(model: LearnedModel, folder: Path) -> None:
    """Write the model into ``folder``, replacing an unchanged model.

    Raises ``ExportError`` if the folder contains anything else or cannot be written.
    """
    files = model_files(model)
    files[folders.MANIFEST] = folders.manifest_of(files, folders.MODEL_PROGRAM)
    folders.write_folder(files.items(), folder, folders.MODEL_PROGRAM)


def model_files(model: LearnedModel) -> dict[str, bytes]:
    """The files of a model by name, without the manifest."""
    from safetensors.numpy import save

    arrays = {
        "sums": model.usage.sums,
        "counts": model.usage.counts,
        "centres": model.centres,
        "evidence": model.evidence,
    }
    if model.head is not None:
        arrays |= {"head.weights": model.head.weights, "head.bias": model.head.bias}
    if model.described is not None:
        arrays["described"] = model.described
    card: dict[str, Any] = {
        "form": _FORM,
        "method": model.method,
        "embedder": model.embedder,
        "fingerprints": model.fingerprints,
        "weights": dict(model.blend.weights),
        "doubt": model.blend.doubt,
        "candidates": model.candidates,
        "first": model.first,
        "reads_described": model.reads_described,
        "about": model.about,
    }
    files = {
        _WEIGHTS: save({name: np.ascontiguousarray(one) for name, one in arrays.items()}),
        _VARIANTS: "".join(json.dumps(row) + "\n" for row in variant_rows(model.variants)).encode(),
    }
    if isinstance(model.refiner, RefinerNetwork):
        own = model.refiner
        card["refiner"] = {"size": own.size, "source": own.source, "depth": own.depth}
        files[REFINER_WEIGHTS] = save(own.arrays())
    if isinstance(model.tuned, TunedClassifier):
        card["tuned"] = {"source": model.tuned.source}
        files[TUNED_WEIGHTS] = save(model.tuned.arrays())
    return {CARD: json.dumps(card, indent=1).encode(), **files}


def read_model(folder: Path) -> LearnedModel:
    """The model in a folder.

    Raises ``ConfigError`` if the model is missing, damaged, or written by another version.
    """
    files = _checked_files(folder)
    try:
        card = json.loads(files[CARD])
        if card["form"] != _FORM:
            raise ConfigError(
                f"the model {folder} has format {card['form']!r:.20}, but this version reads "
                f"format {_FORM}; train it again with `learn`"
            )
        return _model(card, files)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise _damaged(folder, f"{type(error).__name__}: {error}") from error


def _checked_files(folder: Path) -> dict[str, bytes]:
    """The files that the manifest names, each checked."""
    try:
        manifest = json.loads(folders.read_file(folder / folders.MANIFEST))
        hashes = manifest["sha256"] if manifest["program"] == folders.MODEL_PROGRAM else None
    except OSError as error:
        raise ConfigError(
            f"{folder} is not a trained model ({error.strerror or error}); use the folder "
            "that `learn --out` wrote"
        ) from error
    except (ValueError, LookupError, TypeError) as error:
        raise _damaged(folder, "its manifest cannot be read") from error
    if not isinstance(hashes, dict):
        raise ConfigError(f"{folder} is not a trained model; use a folder that `learn --out` wrote")
    files = {}
    for name, expected in hashes.items():
        try:
            files[name] = folders.read_file(folder / name)
        except OSError as error:
            raise _damaged(folder, f"{name} cannot be read") from error
        if hashlib.sha256(files[name]).hexdigest() != expected:
            raise _damaged(folder, f"{name} has changed since the model was written")
    return files


def _model(card: Mapping[str, Any], files: Mapping[str, bytes]) -> LearnedModel:
    arrays = _arrays(files[_WEIGHTS])
    rows = [json.loads(line) for line in files[_VARIANTS].decode().splitlines()]
    head = None
    if "head.weights" in arrays:
        head = LinearHead(arrays["head.weights"], arrays["head.bias"])
    fingerprints = tuple(card["fingerprints"])
    if {len(arrays[name]) for name in _ARRAYS} != {len(fingerprints)}:
        raise ValueError("the weights are for a different number of tools")
    return LearnedModel(
        method=card["method"],
        embedder=card["embedder"],
        fingerprints=fingerprints,
        usage=UsageVectors(arrays["sums"], arrays["counts"]),
        centres=arrays["centres"],
        evidence=arrays["evidence"],
        blend=Blend(
            {str(n): float(weight) for n, weight in card["weights"].items()}, float(card["doubt"])
        ),
        head=head,
        tuned=_tuned(card, files, arrays["centres"]),
        refiner=_refiner(card, files),
        candidates=int(card["candidates"]),
        described=arrays.get("described"),
        first=card["first"],
        reads_described=bool(card["reads_described"]),
        variants={
            row["tool"]: Augmentation(row["expanded"], tuple(row["questions"])) for row in rows
        },
        about=card["about"],
    )


def _tuned(
    card: Mapping[str, Any], files: Mapping[str, bytes], centres: Vectors
) -> TunedClassifier | None:
    if not card.get("tuned") or not card["weights"].get(TUNED):
        return None
    network = TunedClassifier(centres, card["tuned"]["source"])
    network.put(_arrays(files[TUNED_WEIGHTS]))
    return network


def _refiner(card: Mapping[str, Any], files: Mapping[str, bytes]) -> RefinerNetwork | None:
    """The refiner; ``None`` if the model has no refiner or the refiner's weight is 0."""
    if not card.get("refiner") or not card["weights"].get(REFINER):
        return None
    own = card["refiner"]
    network = RefinerNetwork(own["size"], own["source"], own["depth"])
    network.put(_arrays(files[REFINER_WEIGHTS]))
    return network


def _arrays(content: bytes) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(content))
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _damaged(folder: Path, why: str) -> ConfigError:
    return ConfigError(
        f"the model {folder} is damaged ({why[:200]}); train it again with `learn --out {folder}`"
    )
