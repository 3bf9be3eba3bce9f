"""Parts of the screen, in groups by what they serve; a page puts them together.

Nothing here computes: a part calls one method of the workspace and draws what it returns.
"""
