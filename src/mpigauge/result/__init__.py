"""The result file: what was measured, how and where. Only this package knows its format."""
