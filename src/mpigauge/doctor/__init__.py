"""What this machine has, what disturbs measurements on it, and what to do."""
