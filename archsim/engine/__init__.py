"""The SimPy processes: one for the scalar unit, one for each pipe. Knows no chip, no instruction."""
