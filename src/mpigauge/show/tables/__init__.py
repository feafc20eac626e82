"""Documents of curves, link maps, the doctor's findings and lists; those of papers are in `pivots`."""
