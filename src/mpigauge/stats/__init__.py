"""Statistics: arrays in, arrays and numbers out; nothing of results, plans or MPI is known here."""
