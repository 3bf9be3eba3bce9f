"""One thing has one number: what the pages of three catalogs show, before and after decisions."""

import re
from collections import defaultdict

import pytest

from tests.pages.screen import open_page, words
from toolscope_core.model.cluster import outcome_word
from toolscope_core.model.environment import read_environment
from ui.shared.services import review
from ui.shared.services.workspace import Workspace

SHARED = [
    pytest.param(name, marks=[pytest.mark.shared_data, pytest.mark.nightly])
    for name in ("bfcl", "livemcpbench")
]


@pytest.fixture(params=["Example", *SHARED])
def opened(request):
    """A workspace with a catalog analysed, and its record."""
    work = Workspace(read_environment())
    if request.param == "Example":
        record = work.prepare()
    else:
        catalog = request.getfixturevalue("benchmark_catalog")(request.param)
        record = work.catalogs.add(request.param, catalog)
        work.analyses.run(record.id)
    yield work, record
    work.close()


def read_by_page(monkeypatch, work, name):
    """By thing the numbers that the pages show for it."""
    numbers = defaultdict(list)

    def read(text, **patterns):
        for thing, pattern in patterns.items():
            found = re.findall(pattern, text)
            assert found, (thing, pattern, text)
            numbers[thing] += [int(one.replace(",", "")) for one in found]

    def page(page_name, **query):
        app = open_page(monkeypatch, work, page_name, catalog=name, **query)
        figures = "\n".join(f"{one.label}: {one.value} ({one.delta})" for one in app.metric)
        buttons = "\n".join(one.label for one in app.button)
        links = "\n".join(one.proto.label for one in app.get("page_link"))
        progress = "\n".join(one.proto.text for one in app.get("progress"))
        return app, "\n".join((words(app), figures, buttons, links, progress))

    app, catalog = page("catalog")
    read(
        catalog,
        tools=r"holds ([\d,]+) tools",
        tokens=r"about ([\d,]+) tokens",
        tokens_without_code=r"Without code: ([\d,]+) tokens",
        tokens_with_gateway=r"With a gateway: ([\d,]+) tokens",
    )
    read(catalog, tools=r"\(([\d,]+) tools\)", tokens=r"Today: ([\d,]+) tokens")
    kinds = r"Accept ([\d,]+) drop|merge ([\d,]+) groups? of one|and ([\d,]+) famil"
    merges = ("".join(one) for one in re.findall(kinds, catalog))
    numbers["merges"].append(sum(int(one.replace(",", "")) for one in merges))
    _, tools = page("catalog", part="Tools")
    read(tools, tools=r"[\d,]+ of ([\d,]+) tools")
    for thing, pattern in (
        ("waiting_duplicates", r"Review ([\d,]+) proposals? for"),
        ("waiting_families", r"Review ([\d,]+) for the same op"),
        ("safe", r"([\d,]+) safe merges? waits?"),
    ):  # a step is named where there is something to do
        numbers[thing] += [int(one.replace(",", "")) for one in re.findall(pattern, catalog)]

    _, overlap = page("overlap")
    read(
        overlap,
        candidates=r"\*\*([\d,]+)\*\* pairs of tools are alike",
        merge_pairs=r"same job \*\*([\d,]+)\*\*",
        family_pairs=r"value\) \*\*([\d,]+)\*\*",
        unsure_pairs=r"unsure \*\*([\d,]+)\*\*",
        keep_pairs=r"different jobs \*\*([\d,]+)\*\*",
        duplicates=r"grouped: ([\d,]+) for",
        families=r"job, ([\d,]+) families\.",
    )
    read(overlap, candidates=r"matching pairs of ([\d,]+)")
    for verdict in ("merge", "family", "unsure", "keep"):
        if numbers[f"{verdict}_pairs"] != [0]:
            _, listed = page("overlap", verdict=outcome_word(verdict))
            read(listed, **{f"{verdict}_pairs": r"([\d,]+) matching pairs"})
    _, threshold = page("overlap", view="Threshold")
    read(
        threshold, candidates=r"Candidate pairs: ([\d,]+)", merge_pairs=r"Pairs to merge: ([\d,]+)"
    )
    _, heatmap = page("overlap", view="Heatmap", heatmap_show="All tools")
    read(heatmap, candidates=r"([\d,]+) (?:candidate pairs|pairs? at the threshold or more[^,])")

    _, review = page("review")
    read(
        review,
        waiting_duplicates=r"Waiting: ([\d,]+) for the same job",
        waiting_families=r"job, ([\d,]+) famil",
        safe=r"safe merges \((\d+)\)",
    )
    for show in ("Same job", "Families"):
        _, listed = page("review", show=show)
        if "Nothing left" not in listed:
            read(listed, **{f"waiting_{show.lower()}": r"of ([\d,]+) shown"})
    _, undecided = page("review", show="Undecided")
    parts = re.findall(r"([\d,]+) pairs? that the judge can|unsure of ([\d,]+) more", undecided)
    if parts:
        numbers["unsure_pairs"].append(sum(int((a or b).replace(",", "")) for a, b in parts))

    app, export = page("export")
    read(
        export,
        tools=r"Tools: ([\d,]+) →",
        tokens=r"\(estimate\): ([\d,]+) →",
        waiting_duplicates=r"accepted them: ([\d,]+) for the same job",
        waiting_families=r"job, ([\d,]+) famil",
    )
    app.selectbox(key="accept").select("all").run()
    read(exported(app), tokens_without_code=r"\(estimate\): [\d,]+ → ([\d,]+)")
    app.toggle(key="gateway").set_value(True).run()
    with_gateway = r"\(estimate\): [\d,]+ → ([\d,]+)"
    read(exported(app), tokens_with_gateway=with_gateway, merges=r"Merges: ([\d,]+)")
    return numbers


def exported(app):
    return "\n".join(f"{one.label}: {one.value}" for one in app.metric)


def assert_agree(numbers):
    differing = {thing: shown for thing, shown in numbers.items() if len(set(shown)) != 1}
    assert not differing
    one = {thing: shown[0] for thing, shown in numbers.items()}
    verdicts = (one[f"{verdict}_pairs"] for verdict in ("merge", "family", "unsure", "keep"))
    assert sum(verdicts) == one["candidates"]
    return one


def test_the_pages_agree_before_and_after_decisions(monkeypatch, opened):
    work, record = opened
    before = assert_agree(read_by_page(monkeypatch, work, record.name))
    waiting = review.queue(work.snapshot(record.id))
    review.decide(work.snapshot(record.id), "accept", waiting[0], "ann")
    review.decide(work.snapshot(record.id), "keep_apart", waiting[1], "ann")
    review.decide(work.snapshot(record.id), "accept", waiting[-1], "ann")
    after = assert_agree(read_by_page(monkeypatch, work, record.name))
    assert before["candidates"] == after["candidates"]
    left = before["waiting_duplicates"] + before["waiting_families"]
    assert after["waiting_duplicates"] + after["waiting_families"] < left
