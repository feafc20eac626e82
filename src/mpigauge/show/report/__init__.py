"""HTML report: all that is shown of results, as one self-contained page."""
