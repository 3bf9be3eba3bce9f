"""One thing has one number: what the pages of three catalogs show, before and after decisions."""

from collections import defaultdict

import pytest

from tests.pages.screen import metrics, numbers, open_page
from toolscope_core.model.cluster import outcome_word
from toolscope_core.model.environment import read_environment
from ui.shared.services import review
from ui.shared.services.workspace import Workspace

SHARED = [
    pytest.param(name, marks=[pytest.mark.shared_data, pytest.mark.nightly])
    for name in ("bfcl", "livemcpbench")
]
VERDICTS = ("merge", "family", "unsure", "keep")
TEXTS = ("markdown", "caption", "info")
STEPS = {
    "waiting_duplicates": "show=Same+job",
    "waiting_families": "show=Families",
    "safe": "safe_merges=open",
}
"""By thing the address to which its step leads."""


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


def read_by_page(monkeypatch, work, record):
    """By thing the numbers that the pages show for it."""
    shown, name, record_id = defaultdict(list), record.name, record.id

    def page(page_name, **query):
        return open_page(monkeypatch, work, page_name, catalog=name, **query)

    def see(**counts):
        for thing, count in counts.items():
            shown[thing].append(count)

    app = page("catalog")
    tools, *_, tokens = at(app, "catalog_size")
    see(tools=tools, tokens=tokens)
    see(tools=numbers(app.metric[0].delta)[0], tokens=first(metrics(app)["Today"]))
    see(
        tokens_without_code=first(metrics(app)["Without code"]),
        tokens_with_gateway=first(metrics(app)["With a gateway"]),
    )
    plan = work.snapshot(record_id).plan
    accepted = sum(cluster.state == "accepted" for cluster in plan.clusters)
    see(merges=accepted + sum(at(app, "drop_ins")[:1] + at(app, "gateways")[:2]))
    for link in app.get("page_link"):  # a step is named where there is something to do
        for thing, query in STEPS.items():
            if link.proto.query_string == query and (count := numbers(link.proto.label)):
                see(**{thing: count[0]})
    see(tools=at(page("catalog", part="Tools"), "tool_count")[1])

    app = page("overlap")
    candidates, _, *verdicts, duplicates, families = at(app, "pair_counts")
    see(candidates=candidates, duplicates=duplicates, families=families)
    see(candidates=listed_pairs(app)[-1])
    for verdict, count in zip(VERDICTS, verdicts, strict=True):
        see(**{verdict: count})
        if count:
            matching = listed_pairs(page("overlap", verdict=outcome_word(verdict)))[-2]
            see(**{verdict: matching})
    threshold = metrics(page("overlap", view="Threshold"))
    see(candidates=first(threshold["Candidate pairs"]), merge=first(threshold["Pairs to merge"]))
    heatmap = text_at(page("overlap", view="Heatmap", heatmap_show="All tools"), "near_pairs")
    see(candidates=numbers(heatmap.partition(";")[2].partition(".")[0])[-1])

    app = page("review")
    _, _, duplicates, families, *_ = at(app, "queue_counts")
    see(waiting_duplicates=duplicates, waiting_families=families)
    see(safe=first(app.button(key="accept_safe").label))
    for show, thing in (("Same job", "waiting_duplicates"), ("Families", "waiting_families")):
        _, listed, *_ = at(page("review", show=show), "queue_counts") or (0, 0)
        see(**{thing: listed})
    see(unsure=sum(at(page("review", show="Undecided"), "undecided_counts")))

    app = page("export")
    (tools, _), (tokens, _), *_ = map(numbers, metrics(app).values())
    duplicates, families = at(app, "not_merged")
    see(tools=tools, tokens=tokens, waiting_duplicates=duplicates, waiting_families=families)
    app.selectbox(key="accept").select("all").run()
    see(tokens_without_code=numbers(app.metric[1].value)[1])
    app.toggle(key="gateway").set_value(True).run()
    see(tokens_with_gateway=numbers(app.metric[1].value)[1], merges=first(metrics(app)["Merges"]))
    return shown


def text_at(app, key):
    """The text of a part of the page, empty where the page is without it."""
    parts = [one for one in app.container if one.key == key]
    return "\n".join(one.value for part in parts for kind in TEXTS for one in part.get(kind))


def at(app, key):
    """The numbers in a part of the page."""
    return numbers(text_at(app, key))


def listed_pairs(app):
    """How many pairs match, and of how many."""
    return numbers(text_at(app, "pairs_listed").partition(".")[0])


def first(text):
    return numbers(text)[0]


def assert_agree(numbers):
    differing = {thing: shown for thing, shown in numbers.items() if len(set(shown)) != 1}
    assert not differing
    one = {thing: shown[0] for thing, shown in numbers.items()}
    assert sum(one[verdict] for verdict in VERDICTS) == one["candidates"]
    return one


def test_the_pages_agree_before_and_after_decisions(monkeypatch, opened):
    work, record = opened
    before = assert_agree(read_by_page(monkeypatch, work, record))
    waiting = review.queue(work.snapshot(record.id))
    review.decide(work.snapshot(record.id), "accept", waiting[0], "ann")
    review.decide(work.snapshot(record.id), "keep_apart", waiting[1], "ann")
    review.decide(work.snapshot(record.id), "accept", waiting[-1], "ann")
    after = assert_agree(read_by_page(monkeypatch, work, record))
    assert before["candidates"] == after["candidates"]
    left = before["waiting_duplicates"] + before["waiting_families"]
    assert after["waiting_duplicates"] + after["waiting_families"] < left
