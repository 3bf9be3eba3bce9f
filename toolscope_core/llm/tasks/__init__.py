"""The questions to a model, one module a task: the prompt beside its parser, with a version."""
