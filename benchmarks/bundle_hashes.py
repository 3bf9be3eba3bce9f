"""Whether the bundles of whole catalogs are byte for byte those that were committed.

 python -m benchmarks.bundle_hashes [--write] [--catalogs example bfcl]

Refactoring does not change the bundles. A commit that changes them on purpose writes the hashes
again and says what changed. Similarities are floats, so on another kind of processor their last
digits may differ.
"""

import hashlib
import json
import sys
from pathlib import Path

from benchmarks.measuring import CATALOGS as PUBLIC
from benchmarks.measuring import add_catalogs, analysis_of, parser_of, read_named
from toolscope_core.export.bundle import bundle_of
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.configuration import PlanConfig

HASHES = Path(__file__).with_name("data") / "bundle_hashes.json"
CATALOGS = ("example", *PUBLIC)
WAYS = {"auto": PlanConfig("auto"), "all": PlanConfig("all", gateway=True)}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--write", action="store_true", help="commit to today's hashes")
    add_catalogs(parser, CATALOGS)
    options = parser.parse_args()
    committed = json.loads(HASHES.read_text("utf-8")) if HASHES.exists() else {}
    current = {name: bundle_hashes(name) for name in options.catalogs}
    changed = [
        f"{name} {way}: {file}"
        for name, ways in current.items()
        for way, files in ways.items()
        for file in sorted(files.keys() | committed.get(name, {}).get(way, {}).keys())
        if files.get(file) != committed.get(name, {}).get(way, {}).get(file)
    ]
    print("\n".join(changed) or f"{len(current)} catalogs, no file changed")
    if options.write:
        HASHES.write_text(json.dumps(committed | current, indent=1, sort_keys=True) + "\n", "utf-8")
    elif changed:
        sys.exit(1)


def bundle_hashes(name: str) -> dict[str, dict[str, str]]:
    """The hash of each file in a catalog's bundles, for each way of merging.

    ``manifest.json`` is left out, because it has the versions of packages and the hashes of the
    other files.
    """
    analysis = analysis_of(read_named(name))
    return {
        way: {
            file: hashlib.sha256(content).hexdigest()[:16]
            for file, content in bundle_of(
                analysis, plan_merge(analysis, (), config), (), config
            ).files()
            if file != "manifest.json"
        }
        for way, config in WAYS.items()
    }


if __name__ == "__main__":
    main()
