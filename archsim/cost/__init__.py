"""Micro-ops -> cycles: data movement, the simd pipe, the vreg core. No data, no clock of its own."""
