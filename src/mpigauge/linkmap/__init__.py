"""The link map: latency and rate of every pair of ranks, and which links and hosts are slow."""
