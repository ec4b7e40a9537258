"""Padding: a tile's valid region and, around it, the pad value: TFILLPAD*."""

from collections.abc import Mapping

from archsim.isa.pipes import Pipe
from archsim.isa.rules import Constraint, Rules, same_dtype, tiles
from archsim.isa.tile_op import COPY, UNARY, Arg, TileOp, both, same

_DST = (Arg("dst", "tile", pad="max"),)


def _fill(name: str, family: str, ins: tuple[Arg, ...], where: str) -> TileOp:
    return TileOp(
        name,
        family,
        Pipe.V,
        _DST,
        ins,
        both(same(COPY)),
        {"a2a3": "vector_dup", "a5": "VDUP"},
        f"dst = src in its valid region, dst's pad value in the rest of {where}",
        sample_valid=(13, 37),
    )


ROWS = (
    _fill("TFILLPAD", "fill_pad", UNARY, "the tile"),
    _fill("TFILLPAD_EXPAND", "fill_pad_expand", UNARY, "a tile that may be greater than src"),
    _fill(
        "TFILLPAD_INPLACE",
        "fill_pad_in_place",
        (Arg("src", "tile", at="dst"),),
        "the tile; both are the same memory",
    ),
)
_ALL = (
    *tiles("dst", "src"),
    same_dtype("src", "dst"),
    Constraint("has_pad", ("dst",), "dst has a pad value: zero, max or min"),
)
_SAME = Constraint("same_shape", ("src", "dst"), "src has the declared rows and columns of dst")
RULES: Mapping[str, Rules] = {
    "fill_pad": (*_ALL, _SAME),
    "fill_pad_expand": (
        *_ALL,
        Constraint("fits_in", ("src", "dst"), "src has at most dst's declared rows and columns"),
    ),
    "fill_pad_in_place": (
        *_ALL,
        _SAME,
        Constraint("same_place", ("src", "dst"), "src is where dst is"),
    ),
}
OWN: Mapping[str, Mapping[str, Rules]] = {}
