"""The files that every bundle has, in their order."""

FILES = (
    *("toolset.json", "relabel.json", "arguments.json", "clusters.json", "pairs.jsonl"),
    *("aliases.json", "never_merge.json", "decisions.jsonl", "dangling.json", "fingerprints.json"),
    *("tools.csv", "relabel.csv", "neutral.json", "original.json", "README.md", "manifest.json"),
)
