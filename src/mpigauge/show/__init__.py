"""Numbers become tables. Nothing here computes, prints or reads a file."""
