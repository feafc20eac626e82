"""The interface for Python: results loaded, asked and measured from scripts (docs/python.md)."""
