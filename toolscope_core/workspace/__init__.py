"""One method for each button: what the screen works with. ``workspace.Workspace`` holds it all."""
