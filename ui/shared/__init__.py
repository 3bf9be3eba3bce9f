"""Parts shared by several pages: the frame, tools, pairs, cards, and their services."""
