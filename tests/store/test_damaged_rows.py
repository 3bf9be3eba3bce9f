"""Rows that somebody else changed: each is an error in words, and only of what it belongs to."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.store.test_runs import ANSWER, CALL
from tests.support.logged_calls import read_calls
from toolscope_core.llm.endpoints import Endpoints
from toolscope_core.model.catalog import Catalog, Finding, Problem, Server
from toolscope_core.model.configuration import Endpoint, Prices
from toolscope_core.model.decision import Decision
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import StoreError, ToolScopeError
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.store import catalog_rows, named_rows
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store, rebuilt
from toolscope_core.store.experiment_rows import get_experiment, list_experiments, open_experiment
from toolscope_core.store.jobs import get_job, latest_job, start_job
from toolscope_core.store.runs import StoredLedger, get_run, list_runs, open_run
from toolscope_core.store.stored_state import read_state, setting_as, write_setting
from toolscope_core.store.tables import Json, StoredRow
from ui.shared.chosen_judge import JudgeChoice, choose, setting_name

CATALOG = Catalog(
    tools=(Tool("a", "a", schema={"type": "object"}, raw={"x": 1}), Tool("b", "b", server="s")),
    servers=(Server("s", "words"),),
    problems=(Problem("line 1", "no name"),),
    findings=(Finding("a", "warn", "code", "name", "words"),),
)
OTHER = Catalog(tools=(Tool("other", "other"),))
REJECT = Decision("keep_apart", ("f", "g"), ("a", "b"), "ann")
PLACES = [
    (table.name, column.name)
    for table in StoredRow.metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, Json)
]
NEVER = ["", "{", '"cut', "nul", "NaN", '{"x": NaN}', "[" * 100_000, b"\xff\xfe", "7", "true"]
"""What no column is for."""
SHAPES = {
    ("tool", "body"): ["{}", '{"id": 5}', '{"id": "a", "name": "a", "new": 1}', '{"id": []}'],
    ("catalog", "body"): ["{}", '{"servers": 5}', '{"servers": [5], "problems": []}'],
    ("decision", "members"): ["[]", "[5]", '["f"]', "{}"],
    ("decision", "ids"): ["[[]]", '["a", "a"]', '"ab"'],
    ("decision", "detail"): ["[]", "null"],
    ("run", "configuration"): ["{}", '{"kind": 5}'],
    ("selection", "ids"): ["[5]", "{}"],
    ("answer", "subjects"): ["[5]", "{}"],
    ("answer", "value"): ["[]", '"x"'],
}
DAMAGE = [
    (*place, text) for place in PLACES for text in (*NEVER, *SHAPES.get(place, ['{"x": 1}', "[5]"]))
    if not (place[1] in ("body", "detail", "configuration", "result", "value") and text == '{"x": 1}')
]  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The file of a store that is filled, once for all tests."""
    folder = tmp_path_factory.mktemp("filled")
    fill(f"sqlite:///{folder / 'store.db'}", folder)
    return folder / "store.db"


@pytest.fixture(scope="module")
def opened(filled):
    """The store that all tests use: to open one takes as long as all that is read from it."""
    store = Store(f"sqlite:///{shutil.copy(filled, filled.with_name('used.db'))}")
    yield store
    store.close()


@pytest.fixture
def store(opened, filled):
    """A store in which each table is as it was filled."""
    with closing(sqlite3.connect(filled)) as source, closing(sqlite3.connect(opened.place)) as used:
        source.backup(used)
    return opened


def fill(url, folder):
    """Put something into each table; catalog 1 has all of it, catalog 2 a decision."""
    store = Store(url)
    for number, catalog in enumerate((CATALOG, OTHER), 1):
        record = catalog_rows.save_catalog(store, f"catalog {number}", catalog)
        append_decision(store, record.id, lambda log: REJECT)
    start_job(store, "job", 1, "analysis")
    named_rows.keep_selection(store, 1, "words", ["a"])
    named_rows.keep_query_file(store, 1, "q.jsonl", b"{}")
    named_rows.keep_variants(store, 1, "v.jsonl", {"f": Augmentation("words", ("question",))})
    named_rows.keep_generated(
        store, 1, "m", [named_rows.GeneratedQuery("k", ("a", "b"), "draft", "words", "why")]
    )
    named_rows.keep_server_source(store, "catalog 1", {"servers": []})
    named_rows.keep_usage_log(store, 1, "k", "log.jsonl", {"tools": {}})
    open_experiment(store, 1, "stress", {"n": 1})
    open_run(store, "run", 1, "judge", {"model": "m"})
    StoredLedger(store).commit(CALL, (ANSWER,))
    desk = Endpoints(Settings("", folder, folder), store)
    desk.save(Endpoint("http://127.0.0.1/v1", "m", prices=Prices(1.0, 2.0)))
    choose(store, 1, JudgeChoice("run", 0, "then"))
    store.close()


def judge_choice(store):
    """Which judge was chosen for the first catalog."""
    return setting_as(store, setting_name(1), lambda saved: rebuilt(JudgeChoice, saved))


FIRST = {
    "catalog": "id = 1",
    "tool": "catalog_id = 1 AND position = 0",
    "decision": "name = '\"catalog 1\"'",
}
"""The row of each table that is of the first catalog, where there are others."""


def run(store, statement, *values):
    """Run the statement as a program that is not ours."""
    with closing(sqlite3.connect(store.place)) as connection, connection:
        connection.execute(statement, values)


def write(store, table, column, text):
    """The text in the cell of the column that is of the first catalog, or of none."""
    run(store, f"UPDATE {table} SET {column} = ? WHERE {FIRST.get(table, '1')}", text)


def readings(store, folder):
    """Everything that reads the first catalog, or rows of no catalog."""
    desk = Endpoints(Settings("", folder, folder), store)
    key = named_rows.keep_selection(store, 2, "words", ["other"]).key
    with store.read() as session:
        own = session.connection().exec_driver_sql("SELECT key FROM selection WHERE catalog_id = 1")
        own = own.scalar()
    yield lambda: catalog_rows.list_catalogs(store)
    yield lambda: catalog_rows.load_catalog(store, 1)
    yield lambda: read_log(store, 1)
    yield lambda: (get_job(store, "job"), latest_job(store, 1))
    yield lambda: (named_rows.get_selection(store, 1, own), named_rows.get_selection(store, 2, key))
    yield lambda: named_rows.list_query_files(store, 1)
    yield lambda: named_rows.list_variants(store, 1)
    yield lambda: named_rows.list_generated(store, 1)
    yield lambda: named_rows.read_server_source(store, "catalog 1")
    yield lambda: named_rows.list_usage_logs(store, 1)
    yield lambda: list_experiments(store, 1)
    yield lambda: get_experiment(store, 1)
    yield lambda: (get_run(store, "run"), list_runs(store))
    yield lambda: StoredLedger(store).answers([ANSWER.key])
    yield lambda: read_calls(store, CALL.run)
    yield lambda: (desk.get(), desk.prices())
    yield lambda: judge_choice(store)
    yield lambda: read_state(store, lambda records: records[0])
    yield lambda: append_decision(store, 1, lambda log: REJECT)
    yield lambda: catalog_rows.save_catalog(store, "catalog 1", CATALOG)
    yield lambda: catalog_rows.rename_catalog(store, "catalog 1", "new")
    yield lambda: catalog_rows.delete_catalog(store, "new")


@pytest.mark.parametrize("place", ["decision SET at", "decision SET detail", "job SET state"])
def test_text_that_is_no_unicode_is_said_with_what_to_do(store, place):
    run(store, f"UPDATE {place} = CAST(x'22ff22' AS TEXT)")
    with pytest.raises(StoreError, match="damaged"):
        (latest_job if "job" in place else read_log)(store, 1)


@pytest.mark.parametrize(
    ("table", "column", "text"), DAMAGE, ids=[f"{t}.{c}-{v[:12]!r}" for t, c, v in DAMAGE]
)
def test_a_damaged_cell_is_an_error_in_words_that_names_its_row(
    store, tmp_path, table, column, text
):
    write(store, table, column, text)
    if table != "catalog" or column == "body":
        assert [record.name for record in catalog_rows.list_catalogs(store)] == [
            "catalog 1",
            "catalog 2",
        ]
    assert catalog_rows.load_catalog(store, 2) == OTHER
    omit = Decision("omit", ("f",), ("other",), "ann", detail={"reason": "old"})
    assert append_decision(store, 2, lambda log: omit).seq == 2, "the other one is reached"
    check_refusals(store, tmp_path, table, column, "a backup")


def check_refusals(store, folder, table, column, remedy):
    """Every reading that meets the damaged cell names its row."""
    refusals = []
    for reading in readings(store, folder):
        try:
            reading()
        except ToolScopeError as error:
            refusals.append(str(error))
    for refusal in (one for one in refusals if "row (" in one):
        assert f"{table} row (" in refusal and remedy in refusal and store.place in refusal
    if column != "name":
        assert any("row (" in refusal for refusal in refusals), refusals
    assert not any(len(refusal) > 600 for refusal in refusals)


@pytest.mark.nightly
@pytest.mark.parametrize(("table", "column"), PLACES)
def test_so_is_one_on_a_server(postgres_server, tmp_path, table, column):
    url = postgres_server.new()
    fill(url, tmp_path)
    where = FIRST.get(table, "true")
    postgres_server.sql(f"UPDATE {table} SET {column} = '{{\"cut' WHERE {where}", url)
    store = Store(url)
    check_refusals(store, tmp_path, table, column, "restore a backup")
    store.close()


@pytest.mark.parametrize(
    ("action", "detail"),
    [
        ("undo", {}),
        ("recut", {"groups": 5}),
        ("split", {"groups": [[1], [2]]}),
        ("edit", {"schema": []}),
        ("omit", {"reason": 5}),
        ("threshold", {"similarity": "high"}),
    ],
)
def test_a_decision_without_the_form_of_its_action_is_named(store, action, detail):
    write(store, "decision", "detail", json.dumps(detail))
    write(store, "decision", "action", action)
    with pytest.raises(StoreError, match="'catalog 1', seq 1"):
        read_log(store, 1)
    assert len(read_log(store, 2)) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("endpoint", {"base_url": 5, "model": "m", "budget": {}}),
        ("endpoint", {"base_url": "http://x", "model": "m", "budget": 5}),
        ("endpoint", {"base_url": "http://x", "model": "m", "budget": {}, "deadline": "long"}),
        ("prices", {"m": {"tokens_in": "1", "tokens_out": 2}}),
        ("judge/1", {"run": "run", "decisions": "2", "until": ""}),
    ],
)
def test_a_setting_of_another_form_is_refused_in_words(store, tmp_path, name, value):
    write_setting(store, name, value)
    desk = Endpoints(Settings("", tmp_path, tmp_path), store)
    with pytest.raises(ToolScopeError):
        desk.get(), judge_choice(store)
    assert setting_as(store, name, lambda held: held) == value


def test_a_log_of_which_a_row_was_deleted_goes_on(store):
    for _ in range(2):
        append_decision(
            store, 1, lambda log: Decision("keep_apart", ("f", "g"), ("a", "b"), str(log))
        )
    run(store, "DELETE FROM decision WHERE seq = 2")
    assert append_decision(store, 1, lambda log: REJECT).seq == 4
    assert [row.seq for row in read_log(store, 1)] == [1, 3, 4]
