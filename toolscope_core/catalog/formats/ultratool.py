"""UltraTool's records: a schema of the arguments and one of the results."""

from toolscope_core.catalog.formats.record_format import RecordFormat, places

ULTRATOOL = RecordFormat(
    name="ultratool",
    title="ultratool",
    marks=lambda record: isinstance(record.get("arguments"), dict) and "results" in record,
    template={"name": "", "description": "", "arguments": {"type": "object"}, "results": {}},
    places=places(name="name", description="description", schema="arguments", returns="results"),
)
