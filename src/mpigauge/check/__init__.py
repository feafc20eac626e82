"""Whether numbers are as somebody expects or a report claims: files, selection, amounts, verdicts."""
