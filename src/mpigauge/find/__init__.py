"""What follows from a result: the answer, doubts, disturbances, costs of memory, and conclusions."""
