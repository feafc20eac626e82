"""The loop over launches: order, replication, both stop rules, failures, resume."""
