"""Check of the machine: what it has, what disturbs measurements on it, and what to do."""
