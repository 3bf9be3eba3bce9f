"""Objects of JSON have no order: the same content with other key order gives the same bytes."""

import json
import random
from dataclasses import asdict

import pytest

from tests.support.analyses import analysed
from tests.support.catalogs import DATA, read_json
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import read_yaml
from toolscope_core.evaluation.query_sets import example_path
from toolscope_core.export.bundle import bundle_of
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.configuration import PlanConfig

FORMATS = (None, "openai-chat", "openai-responses", "anthropic", "mcp", "gemini", "neutral")
POLICIES = ((PlanConfig(accept="auto"), [None]), (PlanConfig(accept="all", gateway=True), FORMATS))
FILES = [
    example_path(),
    *sorted(DATA.glob("*.json")),
    *(DATA / f"{name}.jsonl" for name in ("bfcl", "generic", "seal_tools", "ultratool")),
]
DOCUMENTS = sorted((DATA / "documents").glob("*.[jy]*"))


def shuffled(value, chance):
    if isinstance(value, dict):
        pairs = [(key, shuffled(item, chance)) for key, item in value.items()]
        chance.shuffle(pairs)
        return dict(pairs)
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def documents_of(path):
    """The JSON values of a file, one a line in JSONL."""
    text = path.read_text("utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    return [json.loads(text)] if path.suffix == ".json" else list(read_yaml(text))


def source(path, values):
    label = path.name if path.suffix == ".jsonl" else f"{path.stem}.json"
    return Source(label, "\n".join(json.dumps(value) for value in values).encode())


def bundles(catalog, folder):
    analysis = analysed(catalog, folder, threshold=0.4)
    for config, formats in POLICIES:
        plan = plan_merge(analysis, (), config)
        for format in formats:
            yield dict(bundle_of(analysis, plan, (), config, format, fix=True).files())


@pytest.mark.parametrize("path", [*FILES, *DOCUMENTS], ids=lambda path: path.name)
def test_what_is_read_does_not_depend_on_the_order_of_keys(path):
    values = documents_of(path)
    catalog = read_catalog([source(path, values)])
    for seed in range(2):
        other = read_catalog([source(path, shuffled(values, random.Random(seed)))])
        assert json.dumps(asdict(other), default=dict) == json.dumps(asdict(catalog), default=dict)


@pytest.mark.case(69)
@pytest.mark.parametrize("path", FILES[:1] + FILES[-4:], ids=lambda path: path.name)
def test_bundles_of_files_do_not_depend_on_the_order_of_keys(path, tmp_path):
    values = documents_of(path)
    other = shuffled(values, random.Random(0))
    both = zip(
        bundles(read_catalog([source(path, values)]), tmp_path),
        bundles(read_catalog([source(path, other)]), tmp_path),
        strict=True,
    )
    for one, same in both:
        assert [name for name in one if one[name] != same.get(name)] == []


def test_parameters_stand_required_first_and_then_by_name():
    schema = {"properties": {"z": {}, "a": {}, "m": {}, "b": {}}, "required": ["m", "b"]}
    (tool,) = read_json([{"name": "t", "parameters": schema}]).tools
    assert [parameter.name for parameter in tool.parameters] == ["m", "b", "a", "z"]
