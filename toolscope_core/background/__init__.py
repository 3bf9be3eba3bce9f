"""Long work beside the screen: jobs in a thread, heavy numbers in a process."""
