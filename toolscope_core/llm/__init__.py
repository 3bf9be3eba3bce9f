"""Models of any OpenAI-compatible endpoint: the ``openai`` SDK, loaded by the first call.

A key goes to the origin it was given for and nowhere else. A call ends by its deadline, is never
repeated by itself, follows no redirect, and its failure is a value; what no further call can change
raises ``ModelStopError``.
"""
