"""Ask a model what the ledger has no answer to yet: within a budget, and nothing twice."""

from toolscope_core.llm.requests.lanes import AskingState, Terms, repair
from toolscope_core.llm.requests.purse import Purse
from toolscope_core.llm.requests.questions import Asked, Estimate, ask_all, estimate

__all__ = ["Asked", "AskingState", "Estimate", "Purse", "Terms", "ask_all", "estimate", "repair"]
