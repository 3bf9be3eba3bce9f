"""Every row of the table of formats has its reader, its writer and a file in the test data."""

import pytest

from tests.catalog.test_writers import CATALOGS, kept
from toolscope_core.catalog import load_paths, read_catalog, write_toolset
from toolscope_core.catalog.clients.switches import WRITERS
from toolscope_core.catalog.formats.format_table import (
    ADVISED,
    CLIENT_FILES,
    FORMATS,
    INPUTS,
    MATRIX,
    OFFERED,
    OUTPUTS,
    PROMPT_SHAPES,
    Format,
    target_named,
)
from toolscope_core.catalog.formats.shapes import SHAPES
from toolscope_core.model.errors import ExportError

EXAMPLES = {
    catalog.files[0].format: catalog
    for catalog in (read_catalog(load_paths([path])) for path in CATALOGS)
}


def lacking(row):
    """What is still to be added for a row, in sentences."""
    if not (row.reads or row.writes or row.is_client or row.client_file):
        yield f"{row.name} has no use: say of its row whether it reads, writes or is a client."
    if not row.title:
        yield f"{row.name} has no title: add what people call it to its row."
    if row.reads and row.name not in EXAMPLES:
        yield (
            f"{row.name} is not read: add a file of it to tests/data, and its reader "
            "(a Shape in catalog/formats/shapes.py, else a branch in catalog/records.py or values.py)."
        )
    if row.writes and row.name not in SHAPES:
        yield f"{row.name} is not written: add its Shape to catalog/shapes.py."
    if row.writes and not row.reads:
        yield f"{row.name} is written only: what is exported can be imported, so let it read too."
    if (row.offered or row.in_prompts or row.needs_schema) and not row.writes:
        yield f"{row.name} cannot be offered or counted: it is not written."
    if (row.in_prompts or row.advised) and not row.offered:
        yield f"{row.name} has no place: number it among the formats on offer."
    if row.client_file and row.name not in WRITERS:
        yield f"{row.client_file} is not written: add its writer to WRITERS in catalog/clients.py."


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_is_complete(name):
    assert not list(lacking(FORMATS[name])), "\n".join(lacking(FORMATS[name]))


def test_a_new_row_is_told_what_it_lacks():
    assert [text.split(":")[0] for text in lacking(Format("toml", ""))] == [
        "toml has no use",
        "toml has no title",
    ]
    new = Format("toml", "TOML", writes=True, in_prompts=True, client_file="clients/toml.json")
    assert [text.split(":")[0] for text in lacking(new)] == [
        "toml is not written",
        "toml is written only",
        "toml has no place",
        "clients/toml.json is not written",
    ]
    (text,) = lacking(Format("toml", "TOML", reads=True))
    assert "add a file of it to tests/data" in text
    (text,) = lacking(Format("toml", "TOML", is_client=True, needs_schema=True))
    assert "it is not written" in text


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_is_written_is_read_as_what_it_is(name):
    catalog = EXAMPLES[name]
    written = write_toolset(kept(catalog.tools), catalog.servers, name)
    assert catalog.format == name and written


def test_nothing_is_defined_besides_the_rows():
    assert set(SHAPES) == set(OUTPUTS)
    assert {FORMATS[name].client_file for name in WRITERS} == set(CLIENT_FILES)
    assert EXAMPLES.keys() == set(INPUTS)
    numbers = sorted(row.offered for row in FORMATS.values() if row.offered)
    assert numbers == list(range(1, len(OFFERED) + 1))


def test_the_lists_are_read_from_the_table():
    assert OFFERED[0] == PROMPT_SHAPES[0] == "openai-chat", "totals are given in it"
    assert MATRIX[: len(OFFERED)] == OFFERED and {"claude-code", "cursor"} <= set(MATRIX)
    assert set(ADVISED) <= set(PROMPT_SHAPES) <= set(OFFERED) <= set(OUTPUTS) <= set(INPUTS)
    assert OUTPUTS.index("neutral") < OUTPUTS.index("mcp") < OUTPUTS.index("generic")
    assert {"bfcl", "fastmcp"}.isdisjoint((*MATRIX, *OFFERED))
    for name in ("openapi", "fastmcp", "xml"):
        with pytest.raises(ExportError, match="give one of neutral"):
            target_named(name)
