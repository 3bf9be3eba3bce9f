"""A store copied into another one, in both directions, and restored from a backup."""

import shutil
import subprocess
from contextlib import closing

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from tests.store.test_damaged_rows import CATALOG, REJECT, fill
from toolscope_core.cli import app
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Tool
from toolscope_core.store.catalog_rows import (
    delete_catalog,
    load_catalog,
    rename_catalog,
    save_catalog,
)
from toolscope_core.store.copying import contents, copy_store
from toolscope_core.store.decision_rows import append_decision, read_log
from toolscope_core.store.engine import Store
from toolscope_core.store.jobs import end_job, start_job
from toolscope_core.store.named_rows import keep_selection

WEIRD = Catalog((Tool("\x00", "a \ud800 \x00", "🙂 é", raw={"x": [1e-7, 10**30]}),))


@pytest.fixture
def source(tmp_path, store_url):
    """A store with something in each table."""
    fill(store_url, tmp_path)
    store = Store(store_url)
    end_job(store, "job", "done")
    save_catalog(store, "weird \x00", WEIRD)
    yield store
    store.close()


@pytest.fixture
def target(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'target.db'}")
    yield store
    store.close()


def check_goes_on(store):
    """A copy is used as its source would be: nothing that is new gets a number that is taken."""
    keep_selection(store, 1, "words", ["b"])
    assert start_job(store, "next", 1, "analysis").id == "next"
    assert append_decision(store, 1, lambda log: REJECT).seq == 2
    record = save_catalog(store, "later", CATALOG)
    assert load_catalog(store, record.id) == CATALOG


def test_a_copy_has_every_row_and_goes_on(source, target):
    assert all(table.rows for table in contents(source)), "nothing in this table is tried"
    copied = copy_store(source, target)
    assert copied == contents(source) == contents(target)
    assert load_catalog(target, 3) == WEIRD
    check_goes_on(target)


@pytest.mark.nightly
def test_a_store_moves_to_a_server_and_back(source, target, postgres_server, tmp_path):
    with closing(Store(postgres_server.new())) as server:
        copy_store(source, server)
        copy_store(server, target)
        assert contents(source) == contents(server) == contents(target)
        check_goes_on(server)


def test_a_deleted_catalog_takes_all_that_hangs_on_it_with_it(source):
    for name in ("catalog 1", "catalog 2", "weird \x00"):
        delete_catalog(source, name)
    rows = {table.name for table in contents(source) if table.rows}
    assert rows == {"answer", "call", "setting"}


def test_a_target_that_holds_rows_is_refused_as_it_was(source, target):
    save_catalog(target, "mine", CATALOG)
    before = contents(target)
    with pytest.raises(StoreError, match=r"\(catalog, tool\)"):
        copy_store(source, target)
    assert contents(target) == before


def test_a_store_on_which_a_job_runs_is_not_copied(source, target):
    start_job(source, "running", 1, "maps")
    with pytest.raises(StoreError, match="job is running"):
        copy_store(source, target)


def test_a_copy_that_differs_is_no_copy(source, target, monkeypatch):
    trigger = "AFTER INSERT ON decision BEGIN UPDATE decision SET at = 'never'; END"
    with target.write() as session:
        session.connection().execute(text(f"CREATE TRIGGER greedy {trigger}"))
    with pytest.raises(StoreError, match=r"decision .*2 rows"):
        copy_store(source, target)
    assert not any(table.rows for table in contents(target)), "all or nothing"


def test_the_command_copies_and_says_what(source, target, tmp_path):
    url = f"sqlite:///{tmp_path / 'new.db'}"
    runner = CliRunner()
    missing = runner.invoke(app, ["copy-store", f"sqlite:///{tmp_path / 'none.db'}", url])
    assert missing.exit_code == 2 and "there is no store at" in missing.output
    assert not (tmp_path / "none.db").exists()
    source_url = str(source._engine.url.render_as_string(hide_password=False))
    done = runner.invoke(app, ["copy-store", source_url.replace("+psycopg", ""), url])
    assert done.exit_code == 0, done.output
    assert f"copied {source.place} to {tmp_path / 'new.db'}" in done.output
    assert "decision" in done.output and "2 rows" in done.output and "p%40ss" not in done.output
    with closing(Store(url)) as copy:
        assert contents(copy) == contents(source)


def test_the_command_that_upgrades_says_that_it_did(source, store_url, monkeypatch):
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", store_url)
    done = CliRunner().invoke(app, ["upgrade-store"])
    assert done.exit_code == 0 and done.output == f"{source.place} is already up to date\n"


# Backups as docs/store.md describes them


def test_a_copy_of_the_file_restores_everything(tmp_path):
    fill(f"sqlite:///{tmp_path / 'store.db'}", tmp_path)
    shutil.copy(tmp_path / "store.db", tmp_path / "backup.db")
    with closing(Store(f"sqlite:///{tmp_path / 'store.db'}")) as store:
        before = contents(store)
        rename_catalog(store, "catalog 1", "lost")
    with closing(Store(f"sqlite:///{tmp_path / 'backup.db'}")) as restored:
        assert contents(restored) == before


@pytest.mark.nightly
def test_a_dump_of_the_server_restores_everything(own_server, tmp_path):
    own_server.sql("CREATE DATABASE one")
    own_server.sql("CREATE DATABASE two")
    url = own_server.url("one")
    fill(url, tmp_path)
    tools = own_server.programs
    dump = subprocess.run([tools / "pg_dump", url], check=True, capture_output=True).stdout
    with closing(Store(url)) as store:
        before = contents(store)
    restore = [tools / "psql", "-q", "-v", "ON_ERROR_STOP=1", own_server.url("two")]
    subprocess.run(restore, input=dump, check=True, capture_output=True)
    with closing(Store(own_server.url("two"))) as restored:
        assert contents(restored) == before
        assert [row.seq for row in read_log(restored, 1)] == [1]
        keep_selection(restored, 1, "words", ["b"])
