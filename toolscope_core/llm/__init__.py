"""Models behind any OpenAI-compatible endpoint: the ``openai`` SDK, loaded by the first call.

A key goes to its origin and nowhere else. A call ends by its deadline, is never repeated
automatically, follows no redirect, and its failure is a value; a failure that no further call can
avoid raises ``ModelStopError``.
"""
