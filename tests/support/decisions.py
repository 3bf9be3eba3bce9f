"""Decisions on tools and logs of them, for tests that write a log by hand."""

from toolscope_core.decisions.log import admit
from toolscope_core.model.decision import Decision


def decision_on(tools, action, reviewer="ann", at="2026-01-02", **detail):
    prints = tuple(tool.fingerprint for tool in tools)
    return Decision(action, prints, tuple(tool.id for tool in tools), reviewer, at, detail=detail)


def undo(seq, reviewer="ann"):
    return Decision("undo", (), (), reviewer, "2026-01-02", detail={"retracts": seq})


def logged(*proposals, log=()):
    """The log with each proposal that is no repeat."""
    for proposal in proposals:
        row = admit(log, proposal)
        log = log if row in log else (*log, row)
    return log
