"""The machine that a result was measured on: its states, speeds, sessions and how quiet it was."""
