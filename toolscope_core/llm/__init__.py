"""Models behind any OpenAI-compatible endpoint, through the ``openai`` SDK, which the first call
loads.

A key is sent to its own origin and nowhere else. A call ends by its deadline, is never repeated
automatically, and follows no redirect. A failed call returns its failure as a value; a failure that
no further call can avoid raises ``ModelStopError``.
"""
