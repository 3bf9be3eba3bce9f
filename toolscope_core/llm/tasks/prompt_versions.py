"""The version of each prompt in use, by the name of its task: raise it where the prompt changes.

It is part of the key of each answer, so answers to the earlier prompt do not count any more.
"""

PROMPT_VERSIONS = {
    "agent run": "1",
    "audit": "2",
    "augmentation": "1",
    "context split": "1",
    "dummy split": "1",
    "judge": "2",
    "plan filter": "1",
    "quality": "1",
    "query drafts": "1",
    "query polish": "1",
    "rephrasing": "1",
    "selection": "1",
    "siblings": "1",
    "synthesis": "2",
    "worker": "1",
}
