"""One plan over time: sessions, what changed when, and what the next session may find."""
