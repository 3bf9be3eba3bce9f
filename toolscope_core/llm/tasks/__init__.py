"""The questions to a model. Each task has one module with its prompt, its parser and a version."""
