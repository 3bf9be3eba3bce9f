"""The labelled pairs of real servers that a merge proposes, and those it misses.

 python -m benchmarks.server_merges [--pairs] [--neutral-names]

There are eight groups of servers with schemas (``servers/relations.jsonl``, confidence 2 or 3). For
each group, the judge never saw the labels. *Servable* means that one tool could take the other's
calls, according to a reader. A pair counts as proposed if both tools are on one card. A family also
counts if the cards of the two tools, or a card and a tool without a card, are in one family. Shares
have 95 % Wilson intervals. ``--pairs`` lists every labelled pair with its outcome.
``--neutral-names`` renames the servers to *s1*, *s2* and so on, so that only their tools identify
them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from benchmarks import measuring
from benchmarks.held_out import judged_unseen
from benchmarks.train_judge import CATALOGS, SAME_JOB, SERVERS, load
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject

TRUTHS = ("servable", "one job, neither serves", "family", "no merge")
CARDS = ("drop_in", "gateway", "family", "cards of a family", "none")
LEAST_CONFIDENCE = 2


def truth_of(label: JsonObject) -> str:
    """The label that people gave a pair: one of ``TRUTHS``."""
    if label["serves"] != "none":
        return TRUTHS[0]
    if label["relation"] in SAME_JOB:
        return TRUTHS[1]
    return TRUTHS[2] if label["relation"] == "family" else TRUTHS[3]


def card_of(cluster: Cluster) -> str:
    """What the card proposes: *family*, or the kind of merge."""
    return "family" if cluster.relation == "family" else cluster.kind


def on_cards(
    plan: MergePlan, labels: Iterable[JsonObject]
) -> Iterator[tuple[JsonObject, str, Cluster | None]]:
    """Each label, with the kind of card that has both tools (one of ``CARDS``), and the cluster of
    that card.
    """
    families = {tool: one for one in plan.families for tools in one.tools for tool in tools}
    clusters = {member: cluster for cluster in plan.clusters for member in cluster.members}
    for label in labels:
        left, right = clusters.get(label["left"]), clusters.get(label["right"])
        common = left if left is right else None
        beyond = families.get(label["left"]) is families.get(label["right"], plan)
        alone = "cards of a family" if beyond else "none"
        yield label, card_of(common) if common else alone, common


def with_neutral_names(catalog: Catalog) -> Catalog:
    """The catalog with numbered names for its servers.

    The tool ids stay the same, because labels refer to them.
    """
    names = {one.name: f"s{number}" for number, one in enumerate(catalog.servers, 1)}
    servers = tuple(replace(one, name=names[one.name]) for one in catalog.servers)
    tools = tuple(replace(one, server=names.get(one.server, "")) for one in catalog.tools)
    return replace(catalog, tools=tools, servers=servers)


def main() -> None:
    parser = measuring.parser_of(__doc__)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--neutral-names", action="store_true")
    arguments = parser.parse_args()
    measuring.print_machine()
    catalogs = [load(name) for name in CATALOGS]
    rows = measuring.json_rows(measuring.data_folder("servers") / "relations.jsonl")
    labels = [row for row in rows if row["confidence"] >= LEAST_CONFIDENCE]
    total: Counter[tuple[str, str]] = Counter()
    for name in SERVERS:
        catalog = measuring.read_named(name)
        if arguments.neutral_names:
            catalog = with_neutral_names(catalog)
        analysis = judged_unseen(measuring.analysis_of(catalog), name, catalogs)
        plan = plan_merge(analysis, [], PlanConfig(accept="none"))
        own = [one for one in labels if one["catalog"] == name]
        counts: Counter[tuple[str, str]] = Counter()
        for label, card, _ in on_cards(plan, own):
            counts[truth_of(label), card] += 1
            if arguments.pairs:
                print(name, truth_of(label), "→", card, label["left"], label["right"], sep="\t")
        total += counts
        kinds = Counter(map(card_of, plan.clusters))
        print(f"{name}: {len(plan.catalog.tools)} tools, cards {dict(kinds)}; {_servable(counts)}")
    print(f"\nall: {_servable(total)}")
    for truth in TRUTHS:
        row = ", ".join(f"{card} {total[truth, card]}" for card in CARDS)
        print(f"{truth}: {row}")
    for card in ("drop_in", "gateway"):
        on_card = sum(total[truth, card] for truth in TRUTHS)
        right = total["servable", card] + (card == "gateway") * total[TRUTHS[1], card]
        print(f"labelled {card}s right: {rate_text(right, on_card)}")
    labelled = sum(total["family", card] for card in CARDS)
    found = 0
    for card in CARDS[2:4]:
        proposed = sum(total[truth, card] for truth in TRUTHS)
        found += total["family", card]
        print(f"labelled pairs, {card}, right: {rate_text(total['family', card], proposed)}")
    print(f"family pairs found: {rate_text(found, labelled)}")


def _servable(counts: Counter[tuple[str, str]]) -> str:
    servable = sum(counts["servable", card] for card in CARDS)
    proposed = counts["servable", "drop_in"] + counts["servable", "gateway"]
    return f"servable found {rate_text(proposed, servable)}"


if __name__ == "__main__":
    main()
