"""Output of nccl-tests and rccl-tests: tables on the screen, and files in JSON and CSV."""
