"""The rows of the tile instructions and the rules of their families, a file a group."""
