"""Ask a model what the ledger has no answer to yet: within a budget, and nothing twice."""

from toolscope_core.llm.requests.model_requests import (
    Answered,
    Estimate,
    ask_all,
    estimate,
    stored_answers,
)
from toolscope_core.llm.requests.request_workers import RequestState, RunBudget, Terms, repair
