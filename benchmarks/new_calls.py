"""Whether a call written only from a merged tool arrives with the intended meaning.

 python -m benchmarks.new_calls [--catalogs docker-mcp google]

For each member of a gateway tool, a call is written from the merged schema: each argument, except
those described as another member's, gets a marker for its meaning. The call is then mapped back. A
marker *arrives* if the member's own argument means the same.

The meaning is the member's own if the text says so or if the argument has its name. Otherwise, it
is the meaning of the member whose name and words the argument has. For such arguments, the share
that mean the same is taken from labelled pairs in the same stratum: equal names, a sure match, or a
guess. (Two readers labelled them blind, in ``data/argument_pairs.jsonl``.)

*refused* counts values that the merged schema allows but the member's own schema does not, if the
refusal would name an argument that the agent never saw. *unsaid* counts arguments that the member
needs or does not have, although the merged schema does not say so.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks import measuring
from benchmarks.train_judge import SERVERS
from toolscope_core.catalog.calls import takes, unmap_call, validator_of
from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.cluster import ArgumentMap, Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.numbers import interval_text
from toolscope_core.model.tool import JsonObject, Parameter, Tool
from toolscope_core.wording.words import plain_words

LABELS = measuring.ROOT / "benchmarks" / "data" / "argument_pairs.jsonl"
CATALOGS = (*SERVERS, *measuring.CATALOGS, "mcp-registry", "toucan", "etom")
STRATA = ("own", "equal name", "sure", "guessed")
OF_TYPES = {"string": "x", "integer": 3, "number": 1.5, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True, slots=True)
class Cell:
    """An argument of a member, and the merged argument that leads to it.

    ``owner`` and ``owned`` are the member and the argument whose name and words the merged argument
    has. ``refused`` is a value that only the merged argument accepts.
    """

    catalog: str
    tool: Tool
    own: str
    merged: str
    owner: Tool
    owned: str
    stratum: str
    refused: object = None

    @property
    def pair(self) -> frozenset[tuple[str, str]]:
        return frozenset({(self.tool.id, self.own), (self.owner.id, self.owned)})


def main() -> None:
    parser = measuring.parser_of(__doc__)
    measuring.add_catalogs(parser, CATALOGS)
    options = parser.parse_args()
    measuring.print_machine()
    cells: list[Cell] = []
    joined: set[frozenset[tuple[str, str]]] = set()
    unsaid: Counter[str] = Counter()
    tokens, members, cards = 0, 0, 0
    costs = Costs()
    for name in options.catalogs:
        analysis = measuring.analysis_of(measuring.read_named(name))
        plan = plan_merge(analysis, (), PlanConfig("none"))
        for cluster in plan.clusters:
            joined |= set(joined_pairs(cluster))
        for cluster in (one for one in plan.clusters if one.kind == "gateway"):
            tools = [plan.catalog.by_id[member] for member in cluster.members]
            cells += cells_of(name, cluster, tools)
            unsaid += unsaid_of(cluster, tools)
            merged = as_tool(cluster)
            tokens += costs.of(merged, PROMPT_FORMATS[0])
            members, cards = members + len(tools), cards + 1
    print(f"{cards} gateway tools of {members} members, {tokens} tokens; {len(cells)} arguments")
    report(cells, joined)
    known, unknown = ([c for c in cells if c.refused is not None and (c.own == c.merged) == same]
                      for same in (True, False))  # fmt: skip
    for what, refused in (("does not know", unknown), ("knows", known)):
        share = rate_text(len(refused), len(cells))
        print(f"refused with a name the agent {what}: {len(refused)}, {share}")
    for what, count in sorted(unsaid.items()):
        print(f"{what}: {count}")


def as_tool(cluster: Cluster) -> Tool:
    document = cluster.document
    return Tool(cluster.id, document.name, document.description, schema=document.schema)


def cells_of(catalog: str, cluster: Cluster, tools: Sequence[Tool]) -> Iterator[Cell]:
    """Each argument of each member, with its merged argument."""
    schema = cluster.document.schema or {}
    ordered = sorted(
        zip(tools, cluster.arguments, strict=True), key=lambda one: one[0].id != cluster.canonical
    )
    owners: dict[str, tuple[Tool, str]] = {}
    for tool, alpha in ordered:
        for move in alpha.moves:
            owner, owned = owners.setdefault(move.target, (tool, move.source))
            text = " ".join(str(schema["properties"][move.target].get("description", "")).split())
            own = parameter_of(tool, move.source)
            if owner is tool or says(text, own, cluster.selector, alpha):
                stratum = "own"
            elif plain_words(move.source) == plain_words(owned):
                stratum = "equal name"
            else:
                stratum = "guessed" if is_guess(tool, move.source, owner, owned) else "sure"
            refused = refused_value(cluster, alpha, tool, own, move.target)
            yield Cell(catalog, tool, own.name, move.target, owner, owned, stratum, refused)


def says(text: str, own: Parameter, selector: str, alpha: ArgumentMap) -> bool:
    """Whether the merged description has the member's own words for the argument."""
    words = " ".join(own.description.split()).rstrip(".")
    return bool(words) and words in text and named_in(text, selector, alpha)


def named_in(text: str, selector: str, alpha: ArgumentMap) -> bool:
    """Whether a note in the text is about the member: its selector value stands before a colon,
    alone or in a list of values.
    """
    value = re.escape(str(alpha.constants.get(selector, "")))
    return re.search(rf"(?:^|[=.,;] ){value}(?:, [^:;]*)?: ", text) is not None


def is_guess(tool: Tool, own: str, owner: Tool, owned: str) -> bool:
    sure = {(m.left, m.right) for m in match_parameters(tool, owner) if not m.inferred}
    return (own, owned) not in sure


def parameter_of(tool: Tool, name: str) -> Parameter:
    return next(one for one in tool.parameters if one.name == name)


def refused_value(
    cluster: Cluster, alpha: ArgumentMap, tool: Tool, own: Parameter, merged: str
) -> object:
    """A value that the merged schema accepts for this member, but the member's own schema does not.

    ``None`` if the description states the restriction, or if all values are accepted.
    """
    schema = (cluster.document.schema or {})["properties"][merged]
    if named_in(str(schema.get("description", "")), cluster.selector, alpha):
        return None
    validator = validator_of(own.schema)
    types = {parameter.name: parameter.type for parameter in tool.parameters}
    for value in values_of(schema):
        call = unmap_call(alpha, {merged: value}, types).arguments
        if own.name in call and not takes(validator, call[own.name]):
            return value
    return None


def values_of(schema: JsonObject) -> list[object]:
    """Example values for a schema: the listed values, or one value of each type."""
    options = [one for key in ("anyOf", "oneOf") for one in schema.get(key) or ()]
    if options:
        return [value for one in options if isinstance(one, dict) for value in values_of(one)]
    declared = schema.get("type")
    types = declared if isinstance(declared, list) else [declared]
    values = schema.get("enum") or [OF_TYPES[one] for one in types if one in OF_TYPES]
    validator = validator_of(schema)
    return [value for value in values if takes(validator, value)]


def unsaid_of(cluster: Cluster, tools: Sequence[Tool]) -> Counter[str]:
    """How often the merged schema fails to say what a member needs or does not have."""
    schema = cluster.document.schema or {}
    counts: Counter[str] = Counter()
    for tool, alpha in zip(tools, cluster.arguments, strict=True):
        value = str(alpha.constants.get(cluster.selector, ""))
        own = {move.target: move.source for move in alpha.moves}
        for name, declared in schema.get("properties", {}).items():
            if name in alpha.constants:
                continue
            text = str(declared.get("description", ""))
            if name not in own:
                counts["unsaid that a member does not have it"] += not_for(text, value) is False
            elif parameter_of(tool, own[name]).required and name not in schema["required"]:
                counts["unsaid that a member needs it"] += not is_required(text, value)
    return counts


def not_for(text: str, value: str) -> bool:
    """Whether a description says that the member does not have the argument."""
    only = re.match(r"(.*?) only[.;]", text)
    others = re.match(r"Not for (.*?)(?:; required.*?)?\.(?: |$)", text)
    return bool(only and value not in only[1].split(", ")) or bool(
        others and value in others[1].split(", ")
    )


def is_required(text: str, value: str) -> bool:
    """Whether a description says that the member needs the argument."""
    named = re.match(r"(?:.*?; r|R)equired for (.*?)\.(?: |$)", text)
    return bool(re.match(r"(?:.*? only|Not for .*?); required\.", text)) or bool(
        named and value in named[1].split(", ")
    )


def report(cells: Sequence[Cell], joined: Collection[frozenset[tuple[str, str]]]) -> None:
    """Print the share of markers that arrive, for each stratum, and what became of pairs labelled
    *same*.

    Intervals are over resampled labels. Strata without a label are left out of the share.
    """
    labels = {pair_of(row): row for row in measuring.json_rows(LABELS)}
    counts = Counter(cell.stratum for cell in cells)
    print("arguments:", ", ".join(f"{name} {counts[name]}" for name in STRATA))
    strata = {cell.pair: cell.stratum for cell in cells}
    rights: dict[str, list[bool]] = {name: [] for name in STRATA}
    rights["own"].append(True)
    for pair, row in labels.items():
        is_clear = set(row["labels"]) in ({"same"}, {"not"})
        if is_clear and strata.get(pair, "own") != "own":
            rights[strata[pair]].append(row["labels"][0] == "same")
    known = [name for name in STRATA if rights[name] and counts[name]]
    for name in STRATA[1:]:
        print(f"labelled, {name}: mean the same {rate_text(sum(rights[name]), len(rights[name]))}")

    def arriving(rights: Mapping[str, Sequence[bool]]) -> float:
        shares = [counts[name] * sum(rights[name]) / len(rights[name]) for name in known]
        return sum(shares) / max(sum(counts[name] for name in known), 1)

    rng = np.random.default_rng(0)
    draws = [
        arriving({name: list(rng.choice(rights[name], len(rights[name]))) for name in known})
        for _ in range(measuring.RESAMPLES)
    ]
    ends = np.quantile(draws, [0.025, 0.975])
    print(f"arrive where they mean: {interval_text(arriving(rights), *ends)}")
    for half in ("dev", "held"):
        same = [
            (pair in joined, row)
            for pair, row in labels.items()
            if row["half"] == half and set(row["labels"]) == {"same"}
        ]
        today = [(is_one, row) for is_one, row in same if row["drawn"] != "unmatched"]
        for name, rows in (("labelled same", same), ("and one when drawn", today)):
            one = sum(is_one for is_one, _ in rows)
            print(f"{half}, {name}: are one argument {rate_text(one, len(rows))}")


def joined_pairs(cluster: Cluster) -> Iterator[frozenset[tuple[str, str]]]:
    """The pairs of arguments that one merged argument replaces."""
    sources: dict[str, list[tuple[str, str]]] = {}
    for alpha in cluster.arguments:
        for move in alpha.moves:
            sources.setdefault(move.target, []).append((alpha.tool_id, move.source))
    return (frozenset(two) for own in sources.values() for two in combinations(own, 2))


def pair_of(row: JsonObject) -> frozenset[tuple[str, str]]:
    return frozenset({(row["left"], row["a"]), (row["right"], row["b"])})


if __name__ == "__main__":
    main()
