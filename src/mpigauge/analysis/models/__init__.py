"""Models of times against size: segments of lines, what follows from them, and what collectives behave like."""
