"""One method for each button and each command; the app and the command line call only this.

``desk.Workspace`` is what the screen works with, ``batch`` what the command line does with files.
"""
