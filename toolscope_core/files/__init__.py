"""Files and folders written completely or not at all, archives, and JSON Lines."""
