"""Facts -> text, JSON, CSV, Perfetto. Works on a finished run, without SimPy."""
