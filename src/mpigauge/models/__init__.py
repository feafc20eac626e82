"""Models of times against size: segments of lines, what follows from them, what collectives are like."""
