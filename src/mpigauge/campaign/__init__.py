"""Running a campaign: order of launches, replication, stop rules, failures and resuming."""
