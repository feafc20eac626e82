"""Sentences and phrases for people: the only place of `show` that writes English."""
