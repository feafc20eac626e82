"""Whether one of two is slower: families of cells, joint permutations of launches, verdicts."""
