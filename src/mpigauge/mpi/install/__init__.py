"""MPI libraries side by side, without root: adding, finding and removing them."""
