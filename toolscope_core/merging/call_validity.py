"""Whether a schema takes a call, whatever the schema is: nothing is fetched, nothing raises."""

import json
from itertools import islice
from typing import Any

from jsonschema_rs import Draft202012Validator, ReferencingError

from toolscope_core.model.tool import JsonObject, canonical_json


def validator_of(schema: JsonObject | None, mask: str | None = None) -> Draft202012Validator | None:
    """``None`` for a tool that does not say what it takes, or says it in a schema that no validator
    reads: it takes everything. Its messages have the ``mask`` in place of values.
    """
    if schema is None:
        return None
    try:
        return Draft202012Validator(_encodable(dict(schema)), retriever=_nothing_outside, mask=mask)
    except (ValueError, ReferencingError):
        return None


def takes(validator: Draft202012Validator | None, value: object) -> bool:
    """Whether the value is valid."""
    return validator is None or validator.is_valid(_encodable(value))


def refusals(
    schema: JsonObject | None, arguments: JsonObject, most: int = 5, mask: str | None = None
) -> tuple[str, ...]:
    """What the schema says against these arguments: the first ``most`` sentences, cut to 300, with
    the ``mask`` in place of values.
    """
    validator = validator_of(schema, mask)
    if validator is None:
        return ()
    errors = validator.iter_errors(_encodable(dict(arguments)))
    return tuple(error.message[:300] for error in islice(errors, most))


def _nothing_outside(uri: str) -> Any:
    raise ValueError(f"{uri} is outside the schema")


def _encodable(value: object) -> Any:
    """Without lone surrogates, which are no text for the validator."""
    return json.loads(canonical_json(value).encode("utf-8", "replace"))
