"""Engines that run blocks of work on other machines; `LOCAL` is that of this process."""
