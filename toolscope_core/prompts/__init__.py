"""What a model is asked, one module a task: the prompt beside its parser, with a version."""
