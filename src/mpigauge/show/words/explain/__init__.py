"""Conclusions in sentences: a module for the words of each topic."""
