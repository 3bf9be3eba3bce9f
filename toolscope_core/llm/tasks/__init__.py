"""The questions to a model, one module per task: the prompt with its parser, and a version."""
