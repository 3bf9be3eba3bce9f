"""ToolScope: audit and curate the toolsets of LLM agents.

The nouns and the errors are in ``model``; each other package is one method or one seam, and
docs/architecture.md draws them. Importing this package loads no model, no screen and no database.
"""

__version__ = "0.2.0"
