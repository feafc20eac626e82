"""Options that several verbs share, and how their values are parsed."""
