"""The version of each prompt in use, by the name of its task: raise it where the prompt changes.

It is part of the key of each answer, so answers to the earlier prompt do not count any more.
"""

PROMPT_VERSIONS = {
    "agent run": "1",
    "audit": "3",
    "augmentation": "2",
    "context split": "2",
    "dummy split": "1",
    "family audit": "1",
    "judge": "3",
    "namespaces": "1",
    "plan filter": "2",
    "quality": "2",
    "query drafts": "2",
    "query polish": "1",
    "rephrasing": "1",
    "selection": "2",
    "siblings": "3",
    "synthesis": "2",
    "worker": "1",
}
