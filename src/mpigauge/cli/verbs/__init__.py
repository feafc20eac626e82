"""The verbs: one module each, imported when it is used."""
