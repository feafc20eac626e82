"""Tables of the Intel MPI Benchmarks: titles and headings, what their numbers are of, and their rows."""
