"""The Review page: the queue and its card, in bulk, by server pair."""
