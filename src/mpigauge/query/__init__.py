"""Which rows of which results were asked for, and rows as labelled series."""
