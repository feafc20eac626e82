"""The transport that messages took: what the network cards carried, beside what a label names."""
