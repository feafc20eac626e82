"""Launching jobs: from a job to a command line, and from a running job to lines of output."""
