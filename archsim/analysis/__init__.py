"""Records -> facts: usage, stalls, the critical path, the basis of the numbers, hazards."""
