"""Python interface: load results, query them and measure from scripts (docs/python.md)."""
