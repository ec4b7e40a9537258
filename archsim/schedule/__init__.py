"""Placement of tiles without address, and the flags and barriers that `sync: auto` derives."""
