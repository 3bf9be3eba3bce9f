"""The command line: the same core as the app, for scripts and CI.

Progress goes to standard error and only to a terminal; results go to files, and a short report
to standard output. Exit status: 0 done, 1 a check that was asked for found something, 2 something
the user can mend, with the reason.
"""

from toolscope_core.cli import (  # noqa: F401 - each adds its commands to the app
    agent_command,
    app_commands,
    check_command,
    connect_command,
    evaluate_command,
    experiment_commands,
    generate_command,
    inspect_commands,
    judge_commands,
    learn_commands,
    merge_command,
    plan_command,
    profile_command,
    relabel_command,
    search_command,
    serve_command,
    usage_command,
)
from toolscope_core.cli.terminal import app

__all__ = ["app"]
