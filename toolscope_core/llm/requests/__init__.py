"""Ask a model what the ledger has no answer to yet: within a budget, and nothing twice."""

from toolscope_core.llm.requests.questions import (
    Answered,
    Estimate,
    ask_all,
    estimate,
    stored_answers,
)
from toolscope_core.llm.requests.request_workers import RequestState, Terms, repair
from toolscope_core.llm.requests.run_budget import RunBudget
