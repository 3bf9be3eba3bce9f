"""Whether a model writes the same calls with a merged tool that it would have written before.

    python -m benchmarks.written_calls own FOLDER [--members 60]
    python -m benchmarks.written_calls merged FOLDER
    python -m benchmarks.written_calls read FOLDER

``own`` draws members of gateway tools, one from each card, and writes ``own.md``. For each, the
model sees the member as it is, and answers with a request that a person might make, and with the
call for it. The answers go into ``own.jsonl``. ``merged`` writes ``merged.md``: another model, or
the same one later, sees only the merged tool and the request, and answers in ``merged.jsonl``.
``read`` maps these calls back to the members and compares them with the first calls. An argument
*arrives*, is *missing*, is *another value*, or is one that the first call did not have. *refused*
is what the member's own schema does not accept. Members without an answer are counted.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import measuring
from benchmarks.new_calls import as_tool
from benchmarks.train_judge import SERVERS
from toolscope_core.catalog.calls import takes, unmap_call, validator_of
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.tool import JsonObject, Tool

CATALOGS = (*SERVERS, "docker-mcp", "toucan", "etom")
OWN, MERGED = "own", "merged"
_HOW = {
    OWN: """For each tool: make up one request that a person might type to an assistant that has
this tool, with every value that the call needs written out in it (in quotes where it is a name or
an id), and the call that carries it out. Use at least two arguments where the tool has them. The
request may not contain the names of arguments. Answer with one line of JSON for each tool:
{"id": "…", "request": "…", "arguments": {…}}
""",
    MERGED: """For each tool: write the call that carries out the request. Give no argument that the
request does not ask for, unless the tool requires it. Answer with one line of JSON for each tool:
{"id": "…", "arguments": {…}}
""",
}


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a gateway tool, the merged tool, and the map between their arguments."""

    id: str
    tool: Tool
    merged: Tool
    alpha: ArgumentMap
    place: str

    def prompt(self, side: str, request: str = "") -> str:
        shown = self.tool if side == OWN else self.merged
        words = [f"## {self.id}", f"Request: {request} ({self.place})"] if request else []
        definition = {"description": shown.description, "inputSchema": shown.schema}
        text = json.dumps({"name": shown.name, **definition}, ensure_ascii=False, indent=1)
        return "\n".join([*(words or [f"## {self.id}"]), "```json", text, "```", ""])


def main() -> None:
    parser = measuring.parser_of(__doc__)
    parser.add_argument("way", choices=(OWN, MERGED, "read"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--members", type=int, default=60)
    measuring.add_catalogs(parser, CATALOGS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    drawn = random.Random(0).sample(list(members_of(options.catalogs)), options.members)
    own_rows = rows_of(options.folder, OWN)
    if options.way == "read":
        report(drawn, own_rows, rows_of(options.folder, MERGED))
        return
    requests = {name: str(row["request"]) for name, row in own_rows.items()}
    asked = drawn if options.way == OWN else [one for one in drawn if one.id in requests]
    prompts = [one.prompt(options.way, requests.get(one.id, "")) for one in asked]
    path = options.folder / f"{options.way}.md"
    path.write_text("\n".join([_HOW[options.way], *prompts]), "utf-8")
    print(f"{len(asked)} prompts in {path}; the answers go into {path.with_suffix('.jsonl').name}")


def members_of(catalogs: list[str]) -> Iterator[Member]:
    """One member of each gateway tool, drawn from the members that take two or more arguments."""
    rng = random.Random(0)
    for name in catalogs:
        plan = plan_merge(measuring.analysis_of(measuring.read_named(name)), (), PlanConfig("none"))
        for cluster in (one for one in plan.clusters if one.kind == "gateway"):
            alphas = [
                one
                for one in cluster.arguments
                if len(plan.catalog.by_id[one.tool_id].parameters) > 1
            ]
            if alphas:
                alpha = rng.choice(alphas)
                value = alpha.constants[cluster.selector]
                tool = plan.catalog.by_id[alpha.tool_id]
                place = f"{cluster.selector}: {value}"
                yield Member(f"{name}-{cluster.id}", tool, as_tool(cluster), alpha, place)


def rows_of(folder: Path, side: str) -> Mapping[str, JsonObject]:
    path = folder / f"{side}.jsonl"
    rows = measuring.json_rows(path) if path.exists() else ()
    return {str(row["id"]): row for row in rows}


def report(
    drawn: list[Member], own_rows: Mapping[str, JsonObject], rows: Mapping[str, JsonObject]
) -> None:
    measuring.print_machine()
    answered = [one for one in drawn if one.id in own_rows and one.id in rows]
    counts: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for one in answered:
        types = {parameter.name: parameter.type for parameter in one.tool.parameters}
        own, written = own_rows[one.id]["arguments"], rows[one.id]["arguments"]
        mapped = unmap_call(one.alpha, written, types)
        results = dict(compared(own, mapped.arguments))
        refused = not takes(validator_of(one.tool.schema or {}), mapped.arguments)
        was_refused = not takes(validator_of(one.tool.schema or {}), own)
        is_there = all(written.get(name) == value for name, value in one.alpha.constants.items())
        counts.update(results.values())
        calls["arrived as it was"] += set(results.values()) <= {"arrives"}
        calls["refused, and was not before"] += refused and not was_refused
        calls["sent elsewhere"] += not is_there
        calls["had an argument that has no place"] += bool(mapped.losses)
        for name, result in results.items():
            if result != "arrives":
                given = f"{own.get(name)!r} → {mapped.arguments.get(name)!r}"
                print(f"{one.id} {one.tool.id} `{name}` {result}: {given}"[:200])
    print(f"{len(answered)} of {len(drawn)} members answered")
    for what, count in calls.items():
        print(f"calls, {what}: {rate_text(count, len(answered))}")
    for what, count in sorted(counts.items()):
        print(f"arguments, {what}: {rate_text(count, counts.total())}")


def compared(own: JsonObject, mapped: JsonObject) -> Iterator[tuple[str, str]]:
    """For each argument in either call, what became of it."""
    for name in {**own, **mapped}:
        if name not in mapped:
            yield name, "missing"
        elif name not in own:
            yield name, "not in the first call"
        else:
            yield name, "arrives" if _plain(own[name]) == _plain(mapped[name]) else "another value"


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True).casefold()


if __name__ == "__main__":
    main()
