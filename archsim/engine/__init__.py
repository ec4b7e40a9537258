"""The SimPy processes: the scalar unit and each pipe. Knows no chip and no instruction name."""
