import pytest

from toolscope_core.catalog.calls import map_call
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.arguments.units import difference
from toolscope_core.judging.explanation import ToolComparison, explain
from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.clusters import build_clusters
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Group
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.tool import Parameter, Tool
from toolscope_core.wording.reading import read_tool

TABLE = [
    ("temp_c", "", "temp_f", "", "degrees Celsius, not degrees Fahrenheit"),
    ("temperature", "in Celsius", "temperature", "in degrees Fahrenheit", "degrees Celsius, not"),
    ("temperature", "Degrees (°C)", "temperature", "in kelvin", "degrees Celsius, not kelvin"),
    ("distance", "Distance in km", "distance", "How far (in miles)", "kilometres, not miles"),
    ("height", "Height in centimeters.", "height", "Height in inches", "centimetres, not inches"),
    ("timeout_ms", "", "timeout_seconds", "", "milliseconds, not seconds"),
    ("timeout", "in seconds", "timeout", "(ms)", "seconds, not milliseconds"),
    ("duration", "Duration in hours", "duration", "Number of minutes", "hours, not minutes"),
    ("weight_kg", "", "weight_lbs", "", "kilograms, not pounds"),
    ("angle", "Angle in degrees", "angle", "Angle in radians", "degrees, not radians"),
    ("price", "Price in USD", "price", "Price in euros", "US dollars, not euros"),
    ("amount_cents", "", "amount_usd", "", "cents, not US dollars"),
    ("rate", "Rate as a percentage", "rate", "Rate as a decimal", "percent, not a fraction"),
    ("size", "Size in bytes", "size_mb", "", "bytes, not megabytes"),
    ("day", "Given as MM/DD/YYYY", "day", "Format YYYY-MM-DD", "a date as MM/DD/YYYY, not"),
    ("since", "ISO 8601 timestamp", "since", "Unix timestamp", "not seconds since 1970"),
    ("since", "Unix time in milliseconds", "since", "Unix timestamp", "milliseconds since 1970"),
]

CITY_STATE = "The city, in the format of 'City, State', such as 'San Francisco, CA'."
CITY_COUNTRY = "In the format 'City, Country' (e.g., 'Paris, France')."
TABLE += [("city", CITY_STATE, "city", CITY_COUNTRY, "city and state, not city and country")]

SAME = [
    ("city", "In the format 'City, State' or 'City, Country'.", "city", CITY_COUNTRY),
    ("city", CITY_STATE, "city", "Such as 'Paris, France'."),
    ("temperature", "in Celsius", "temp", "degrees Celsius (°C)"),
    ("temperature", "", "temperature", "in Celsius"),
    ("unit", "Celsius or Fahrenheit", "unit", "given in Celsius"),
    ("month", "Which month", "day", "Which day"),
    ("date", "In MM-DD-YYYY", "date", "As mm-dd-yyyy"),
    ("price_min", "in USD", "price", "in dollars"),
    ("speed", "How fast, 1 to 10", "speed", "How fast"),
]


def named(name, description="", **more):
    return Parameter(name, False, {"type": "number", "description": description, **more})


def tool(tool_id, name, description):
    schema = {"type": "number", "description": description}
    return Tool(
        tool_id,
        "cool_room",
        "Cools the room.",
        schema={"type": "object", "properties": {name: schema}, "required": [name]},
    )


def cluster_of(*tools):
    (cluster,) = build_clusters(Catalog(tools), [Group(("a", "b"))], Constraints(), {}, 0.9)
    return cluster


@pytest.mark.parametrize(("one", "text", "other", "other_text", "expected"), TABLE)
def test_units_that_differ_make_a_map_lossy_and_are_named(one, text, other, other_text, expected):
    assert expected in difference(named(one, text), named(other, other_text))
    left, right = tool("a", one, text), tool("b", other, other_text)
    alpha = argument_map(left, right)
    assert [(move.source, move.target) for move in alpha.moves] == [(one, other)]
    assert any(expected in sentence for sentence in alpha.lossy)


@pytest.mark.parametrize(("one", "text", "other", "other_text"), SAME)
def test_what_agrees_or_is_not_said_is_no_difference(one, text, other, other_text):
    assert difference(named(one, text), named(other, other_text)) == ""


def test_a_format_counts_as_what_is_said():
    dated, timed = named("when", format="date"), named("when", format="date-time")
    assert "a date as YYYY-MM-DD" in difference(dated, timed)
    assert difference(named("when", format="date"), named("when", "As YYYY-MM-DD")) == ""
    assert "the format email" in difference(
        named("who", format="email"), named("who", format="uri")
    )
    assert difference(named("n", format="int32"), named("n", format="int64")) == ""
    assert "since 1970" in difference(named("created_epoch"), dated)
    assert difference(named("u", "in Celsius", enum=[1]), named("u", "in Fahrenheit")) == ""


def test_a_merge_over_units_keeps_both_arguments_and_is_left_to_a_person():
    left, right = tool("a", "temperature", "in Celsius"), tool("b", "temperature", "in Fahrenheit")
    cluster = cluster_of(left, right)
    assert cluster.kind == "gateway"
    assert any("degrees Celsius" in reason for reason in cluster.reasons)
    assert accept([cluster], PlanConfig(), frozenset())[0].state == "proposed"
    given = [map_call(alpha, {"temperature": 20}).arguments for alpha in cluster.arguments]
    assert [next(iter(arguments)) for arguments in given] == ["temperature", "temperature_2"]


def test_a_guessed_argument_makes_no_drop_in():
    cluster = cluster_of(tool("a", "start_time", "Start"), tool("b", "event_time", "Event"))
    assert cluster.kind == "gateway"
    assert list(cluster.document.schema["properties"])[:2] == ["start_time", "event_time"]
    assert not cluster.safe


def test_the_evidence_says_what_would_have_to_be_converted():
    left, right = tool("a", "temp_c", ""), tool("b", "temp_f", "")
    readings, matches = (read_tool(left), read_tool(right)), match_parameters(left, right)
    sentences = explain(
        ToolComparison((left, right), readings, 0.9, "duplicate", "none", ((), ()), matches), {}
    )
    (converted,) = [s for s in sentences if "temp_c ↔ temp_f: " in s]
    assert "converted" in converted
