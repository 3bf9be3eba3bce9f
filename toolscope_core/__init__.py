"""ToolScope: audit and curate the toolsets of LLM agents.

The nouns are in ``datamodel``, the errors in ``errors``; ``workspace`` is what the app and the
command line call. Importing this package loads no model, no screen and no database.
"""

__version__ = "0.2.0"
