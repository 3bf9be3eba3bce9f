"""Ask a model what the ledger has no answer to yet: within a budget, and nothing twice."""

from toolscope_core.llm.requests.questions import Asked, Estimate, ask_all, estimate
from toolscope_core.llm.requests.request_workers import AskingState, Terms, repair
from toolscope_core.llm.requests.run_budget import RunBudget

__all__ = [
    "Asked",
    "AskingState",
    "Estimate",
    "RunBudget",
    "Terms",
    "ask_all",
    "estimate",
    "repair",
]
