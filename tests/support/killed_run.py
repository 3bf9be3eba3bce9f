"""One run over HTTP in a process of its own, to be killed; see ``test_asking_over_http``."""

from contextlib import closing

from tests.support.sums import Sums
from toolscope_core.llm import endpoint_client  # noqa: F401  loaded once, before the fork
from toolscope_core.llm.chat import EndpointModel
from toolscope_core.llm.model_requests import ask_all
from toolscope_core.llm.request_workers import Terms
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import ApiKey
from toolscope_core.store.engine import Store
from toolscope_core.store.runs import StoredLedger


def ask(store_url, base_url, items):
    endpoint = Endpoint(base_url, "m", concurrency=4)
    model = EndpointModel(endpoint, ApiKey(endpoint.origin, ""))
    with closing(Store(store_url)) as store:
        terms = Terms("run", concurrency=4)
        return ask_all(Sums(batch=2), items, model, StoredLedger(store), terms)
