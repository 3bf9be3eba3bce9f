"""Long work beside the screen: jobs in a thread, projections in a child process."""
