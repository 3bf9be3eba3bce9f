"""The servers that others cover, according to readers and to the program.

 python -m benchmarks.covered_servers

``data/covered_servers.jsonl`` has every server in the eight groups for which one or two other
servers serve four tools out of five. A reader decided that from names, descriptions and schemas,
without seeing the program's results, and noted what would be lost. *sure* leaves out the doubtful
ones.
"""

from pathlib import Path

from benchmarks.measuring import analysis_of, json_rows, parser_of, print_machine, read_named
from benchmarks.train_judge import SERVERS
from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.coverage import server_coverage
from toolscope_core.merging.server_choice import advise
from toolscope_core.model.configuration import PlanConfig

READ = Path(__file__).with_name("data") / "covered_servers.jsonl"


def main() -> None:
    parser_of(__doc__).parse_args()
    print_machine()
    readings = json_rows(READ)
    of_sure = covered = proposed = agreed = advised = advised_right = 0
    for name in SERVERS:
        analysis = analysis_of(read_named(name))
        clusters = plan_merge(analysis, (), PlanConfig(accept="none")).clusters
        servers = server_coverage(analysis, clusters)
        advice = advise(servers)
        own = [row for row in readings if row["catalog"] == name]
        by_reading = {(row["server"], *row["by"]) for row in own}
        pairs = [(one.server, *one.others) for one in servers.of_pairs() if one.is_enough]
        sure = {row["server"] for row in own if not row["doubtful"]}
        missed = sorted(sure - {pair[0] for pair in pairs})
        unread = [" by ".join(pair) for pair in pairs if pair not in by_reading]
        going = {one.server for one in advice.switch_off}
        print(f"{name}: {len(sure)} covered by reading; not found: {', '.join(missed) or 'none'}")
        print(f"    by the program alone: {', '.join(unread) or 'none'}")
        of_sure += len(sure)
        covered += len(sure) - len(missed)
        proposed += len(pairs)
        agreed += len(pairs) - len(unread)
        advised += len(going)
        advised_right += len(going & {row["server"] for row in own})
    print(f"\ncovered servers found: {rate_text(covered, of_sure)}")
    print(f"pairs of servers right: {rate_text(agreed, proposed)}")
    print(f"servers advised to go that are covered by reading: {rate_text(advised_right, advised)}")


if __name__ == "__main__":
    main()
