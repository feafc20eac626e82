"""Presentation: tables, figures, reports and formats. Nothing here computes, prints or reads a file."""
