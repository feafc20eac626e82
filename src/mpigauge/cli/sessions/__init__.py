"""Campaigns that verbs run: sessions with progress and signals, dry runs, and runs inside a lab."""
