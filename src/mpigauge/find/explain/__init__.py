"""What follows from a result: facts about several cells, which sentences are made of. A module per topic."""
