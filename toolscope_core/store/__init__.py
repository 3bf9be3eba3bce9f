"""The store: everything that lasts, in one database. The only place that knows SQL.

``Store(url)`` opens it; the functions take it first and exchange frozen dataclasses. Each is one
short transaction and raises ``StoreError`` when the database cannot be used.
"""

from toolscope_core.store.catalog_rows import (
    CatalogRecord,
    delete_catalog,
    list_catalogs,
    load_catalog,
    rename_catalog,
    save_catalog,
)
from toolscope_core.store.copying import contents, copy_store
from toolscope_core.store.decision_rows import (
    append_decision,
    append_decisions,
    count_decisions,
    read_log,
)
from toolscope_core.store.engine import Store, existing_store, now
from toolscope_core.store.experiment_rows import (
    delete_experiment,
    get_experiment,
    keep_result,
    list_experiments,
    open_experiment,
)
from toolscope_core.store.generated_rows import (
    SET_NAME,
    GeneratedQuery,
    GeneratedState,
    clear_generated,
    decide_generated,
    edit_generated,
    keep_generated,
    list_generated,
)
from toolscope_core.store.job_rows import (
    Job,
    JobState,
    end_job,
    get_job,
    latest_job,
    mark_orphans,
    record_step,
    renew_leases,
    request_cancel,
    start_job,
)
from toolscope_core.store.ledger import StoredLedger, read_calls
from toolscope_core.store.named_rows import (
    UsageLog,
    delete_query_file,
    delete_usage_log,
    keep_query_file,
    keep_server_source,
    keep_usage_log,
    keep_variants,
    list_query_files,
    list_usage_logs,
    list_variants,
    read_server_source,
    usage_log_keys,
)
from toolscope_core.store.rebuilding import rebuilt
from toolscope_core.store.runs import ModelRun, RunState, end_run, get_run, list_runs, open_run
from toolscope_core.store.selection_rows import Selection, get_selection, keep_selection
from toolscope_core.store.settings import read_setting, setting_as, write_setting
