"""Which MPI: finding and telling apart the libraries of this machine, and building the kernel with them."""
