"""Tables of the OSU Micro-Benchmarks: titles and headings, what their numbers are of, and their rows."""
