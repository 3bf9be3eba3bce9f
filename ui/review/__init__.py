"""The Review page: the queue and its card, many at once, by server pair."""
