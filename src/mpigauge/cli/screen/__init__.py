"""The terminal: streams, tables for its width, progress and the live screen."""
