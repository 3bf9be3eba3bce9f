"""One method for each button and each command; the app and the command line call only this.

``workspace.Workspace`` is what the screen works with, ``commands`` what the command line does with
files.
"""
