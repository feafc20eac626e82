"""Arrays in, numbers out: estimates with intervals, and the warnings that belong to them."""
