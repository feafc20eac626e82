"""The verbs, a module each, imported when it is used."""
