"""When iterations that follow each other may run as one: none writes what another one touches."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes that `count` iterations touch: i lies within `width` bytes from lo + i * stride."""

    lo: int
    width: int
    count: int
    stride: int

    @property
    def hi(self) -> int:
        """One past the last byte."""
        return self.lo + (self.count - 1) * self.stride + self.width


def apart(a: Footprint, b: Footprint) -> bool:
    """No byte is in both ranges."""
    return a.hi <= b.lo or b.hi <= a.lo


def steps_apart(written: Footprint, touched: Footprint) -> bool:
    """No iteration writes into the range that a different iteration touches (sufficient test)."""
    if written.count == 1 or apart(written, touched):
        return True
    lo = min(written.lo, touched.lo)
    window = max(written.lo + written.width, touched.lo + touched.width) - lo
    return written.stride == touched.stride >= window


def never_ahead(written: Footprint, read: Footprint) -> bool:
    """No iteration writes what a later one reads: a conversion that narrows in place."""
    return written.stride <= read.stride and written.lo + written.width <= read.lo + read.stride
