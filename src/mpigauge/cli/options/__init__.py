"""Options that several verbs share, and what becomes of them."""
