"""The result file: its records, reading and writing it. Only this package knows its format."""
