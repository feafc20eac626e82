"""Output of NetPIPE: its file np.out, and what it prints on the screen."""
