"""What micro-ops do to memory: byte-addressed, to the bit, without a clock."""
