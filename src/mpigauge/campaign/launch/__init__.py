"""How and where: a job becomes a command line, and a running job becomes lines."""
