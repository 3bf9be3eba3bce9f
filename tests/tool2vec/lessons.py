"""A small catalog with queries that its texts do not answer."""

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.tool import Tool

TOOLS = tuple(
    Tool(name, name, text)
    for name, text in {
        "book_flight": "secure a place on board of an aircraft",
        "forecast": "meteorological outlook for a place",
        "send_mail": "deliver a message to an address",
        "translate": "render a text in another language",
        "play_song": "start playback of a track",
        "unused_tool": "calculate the area of a polygon",
    }.items()
)
WORDS = {
    "book_flight": "fly paris tomorrow",
    "forecast": "rain umbrella weekend",
    "send_mail": "tell boss late",
    "translate": "say french hello",
    "play_song": "put on beatles",
}
QUERIES = tuple(
    Query(f"{name}-{number}", f"{words} {number}", (frozenset({name}),))
    for name, words in WORDS.items()
    for number in ("one", "two", "three", "four", "five", "six")
)
