"""Plans: from TOML files and options to a checked plan, and from a plan to cells and visits."""
