"""Which rows of which results were asked for, and rows as series that are told apart."""
