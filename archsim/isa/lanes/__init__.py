"""What micro-ops do to the lanes: pure functions, numpy in, numpy out, one table a vector style.

A lane function takes a `How` and the source lanes and gives the result lanes. IEEE results are
meant: numpy's floating point warnings are the caller's to silence (`np.errstate(all="ignore")`).
"""
