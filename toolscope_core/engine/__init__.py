"""Engines that run blocks of work on other machines; that of this process is `LOCAL`."""
