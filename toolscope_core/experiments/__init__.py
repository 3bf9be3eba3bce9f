"""What a merge does to agents: measurements that need no agent, and those that need one."""
