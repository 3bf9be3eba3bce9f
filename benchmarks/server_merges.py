"""What a merge proposes of the labelled pairs of real servers, and what it misses.

    python -m benchmarks.server_merges [--pairs]

Eight groups of servers with schemas (``servers/relations.jsonl``, confidence 2 or 3); of each group
by a judge that never saw its labels. *Servable*: one tool could take the other's calls, by
reading. A pair counts as proposed where both tools end on one card. Shares with 95 % Wilson
intervals. ``--pairs`` lists every labelled pair with what became of it.
"""

from collections import Counter

from benchmarks.held_out import analysed, unseen_weights
from benchmarks.judge_quality import share
from benchmarks.measuring import data_folder, json_rows, parser_of, print_machine
from benchmarks.train_judge import CATALOGS, SAME_JOB, SERVERS, load
from toolscope_core.merging.pipeline import plan_merge
from toolscope_core.model.configuration import PlanConfig

TRUTHS = ("servable", "one job, neither serves", "family", "no merge")
CARDS = ("prune", "router", "family", "none")
LEAST_CONFIDENCE = 2


def truth_of(label: dict[str, str]) -> str:
    """What people said of a pair: one of ``TRUTHS``."""
    if label["serves"] != "none":
        return TRUTHS[0]
    if label["relation"] in SAME_JOB:
        return TRUTHS[1]
    return TRUTHS[2] if label["relation"] == "parametric" else TRUTHS[3]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", action="store_true")
    wants_pairs = parser.parse_args().pairs
    print_machine()
    catalogs = [load(name) for name in CATALOGS]
    labels = json_rows(data_folder("servers") / "relations.jsonl")
    total: Counter[tuple[str, str]] = Counter()
    for name in SERVERS:
        plan = plan_merge(
            analysed(name, unseen_weights(catalogs, name)), [], PlanConfig(accept="none")
        )
        cards = {member: cluster for cluster in plan.clusters for member in cluster.members}
        counts: Counter[tuple[str, str]] = Counter()
        for label in labels:
            if label["catalog"] != name or label["confidence"] < LEAST_CONFIDENCE:
                continue
            left, right = cards.get(label["left"]), cards.get(label["right"])
            card = "none"
            if left is not None and left is right:
                card = "family" if left.relation == "parametric" else left.kind
            counts[truth_of(label), card] += 1
            if wants_pairs:
                print(name, truth_of(label), "→", card, label["left"], label["right"], sep="\t")
        total += counts
        kinds = Counter("family" if c.relation == "parametric" else c.kind for c in plan.clusters)
        print(f"{name}: {len(plan.catalog.tools)} tools, cards {dict(kinds)}; {_servable(counts)}")
    print(f"\nall: {_servable(total)}")
    for truth in TRUTHS:
        row = ", ".join(f"{card} {total[truth, card]}" for card in CARDS)
        print(f"{truth}: {row}")
    for card in ("prune", "router"):
        on_card = sum(total[truth, card] for truth in TRUTHS)
        right = total["servable", card] + (card == "router") * total[TRUTHS[1], card]
        print(f"labelled {card}s right: {share(right, on_card)}")
    families = sum(total[truth, "family"] for truth in TRUTHS)
    print(
        f"labelled family pairs on family cards right: {share(total['family', 'family'], families)}"
    )
    every = sum(total["family", card] for card in CARDS)
    print(f"family pairs found: {share(total['family', 'family'], every)}")


def _servable(counts: Counter[tuple[str, str]]) -> str:
    every = sum(counts["servable", card] for card in CARDS)
    proposed = counts["servable", "prune"] + counts["servable", "router"]
    return f"servable found {share(proposed, every)}"


if __name__ == "__main__":
    main()
