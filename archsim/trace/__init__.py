"""Records of a run: one flat list of what happened, with the cause of every wait."""
