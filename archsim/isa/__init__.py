"""Tables of instructions and micro-ops, and the records that stages hand to each other."""
