"""What to measure: TOML and options become a checked plan, and a plan becomes cells and visits."""
