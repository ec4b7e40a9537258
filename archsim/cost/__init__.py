"""Micro-ops -> cycles: data movement, the simd pipe, the vreg core. Sees no data."""
