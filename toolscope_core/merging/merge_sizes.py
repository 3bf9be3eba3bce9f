"""What a merge or an edited document makes of the size of its tools, and which part grows."""

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from toolscope_core.catalog.tokens import Costs, SizeChange, tokenizer
from toolscope_core.merging.clusters import documented
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.tool import Tool, canonical_json

_NAMED = 2
"""So many parts that grow are named, those that grow most."""


def merge_size(cluster: Cluster, tools: Mapping[str, Tool], shape: str, costs: Costs) -> SizeChange:
    """From the members, which ``tools`` holds by id, to the one tool with the document."""
    members = [tools[member] for member in cluster.members]
    return costs.change(members, [documented(tools[cluster.canonical], cluster.document)], shape)


def is_larger_router(cluster: Cluster, size: SizeChange) -> bool:
    """Whether it needs a gateway, nobody accepted it, and agents would have more to read: such a
    proposal is for a person to look at, and in no batch.
    """
    return cluster.kind == "router" and cluster.state == "proposed" and size.grows


def growth_in_words(cluster: Cluster, tools: Mapping[str, Tool], size: SizeChange) -> str:
    """``more to read than what it replaces; what grows most: the enum of `action` (+11)``;
    empty where it does not grow. Parts are counted each by itself, so that their sum is only about
    the growth of the whole.
    """
    if not size.grows:
        return ""
    grown = _growing_parts(cluster, tools).most_common(_NAMED)
    parts = enumerated(f"{part} (+{tokens:,})" for part, tokens in grown)
    most = f"; what grows most: {parts}" if parts else ""
    return f"more to read than what it replaces{most}"


def _growing_parts(cluster: Cluster, tools: Mapping[str, Tool]) -> Counter[str]:
    """How many tokens more each part of the merged tool has than its members have there."""
    note = f"`{cluster.selector}` = " if cluster.selector else ""
    parts = _parts(documented(tools[cluster.canonical], cluster.document), note)
    for member, alpha in zip(cluster.members, cluster.arguments, strict=True):
        targets = {move.source: move.target for move in alpha.moves}
        parts.subtract(_parts(tools[member], note, targets))
    return +parts


def _parts(
    tool: Tool, note: str, targets: Mapping[str, str] = MappingProxyType({})
) -> Counter[str]:
    """The tokens of each text and schema of the tool; an argument by its name in ``targets``. What
    a description says of single tools begins with ``note`` and counts by itself.
    """
    count = tokenizer().count
    texts = {"the description": tool.description}
    parts = Counter({"the name": count(tool.name)})
    for parameter in tool.parameters:
        name = targets.get(parameter.name, parameter.name)
        texts[f"the description of `{name}`"] = parameter.description
        values = canonical_json(parameter.enum) if parameter.enum else ""
        parts[f"the enum of `{name}`"] = count(values)
        rest = {k: v for k, v in parameter.schema.items() if k not in ("enum", "description")}
        parts[f"the type of `{name}`"] = count(canonical_json({parameter.name: rest}))
    for label, text in texts.items():
        general, mark, special = text.partition(note) if note else (text, "", "")
        parts[label] = count(general)
        parts[f"what {label} says of single tools"] = count(mark + special)
    return parts
