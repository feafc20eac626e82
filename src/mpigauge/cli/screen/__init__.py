"""The terminal: streams, tables that fit its width, progress, and the live display."""
