"""Every instruction once: the smallest typical question about it, and its answer on a core."""

from collections.abc import Iterator
from dataclasses import dataclass

from archsim.analysis.instruction import InstructionCycles, time_alone
from archsim.arch import ArchConfig
from archsim.base.dtypes import DTYPES
from archsim.base.errors import InputError
from archsim.isa.conversions import Pair
from archsim.isa.pipes import Pipe
from archsim.isa.tile_op import TileOp
from archsim.isa.tile_ops import FORMS
from archsim.schedule.alone import Question

LIKED = ("f32", "f16", "i32")  # source types, best first


@dataclass(frozen=True, slots=True)
class Sample:
    """One form of an instruction on one core: its time, or why it has none."""

    op: TileOp
    question: Question | None
    answer: InstructionCycles | None
    refusal: str = ""


Shape = tuple[int, int]


def sample(
    op: TileOp, arch: ArchConfig, shape: Shape | None = None, liked: str = LIKED[0]
) -> Sample:
    """Time one form alone on source type `liked`, if it takes that, or another one.

    At `shape`; where that is not legal, or none is given, at the shape that its row names.
    """
    if arch.isa not in op.dtypes:
        return Sample(op, None, None, op.refusal(arch.isa))
    asked = _question(op, arch.isa, shape or op.sample, liked)
    try:
        return Sample(op, asked, time_alone(asked, arch))
    except InputError as error:
        if shape not in (None, op.sample):
            return sample(op, arch, op.sample, liked)
        return Sample(op, asked, None, error.diagnostics[0].message)


def all_samples(
    arch: ArchConfig, shape: Shape | None = None, liked: str = LIKED[0]
) -> Iterator[Sample]:
    """Every form of every instruction that runs on a pipe other than S, in the table's order."""
    for forms in FORMS.values():
        for op in forms:
            if op.pipe is not Pipe.S:
                yield sample(op, arch, shape, liked)


def _question(op: TileOp, isa: str, shape: Shape, liked: str) -> Question:
    order = (liked, *LIKED)
    src, dst = min(op.dtypes[isa], key=lambda pair: _rank(pair, order))
    attrs = {key: op.keys[key][0] for key in op.requires}
    valid = op.sample_valid if op.sample_valid and shape == op.sample else shape
    return Question(op, DTYPES[src], DTYPES[dst], shape, valid, "", op.sample_scalar, attrs)


def _rank(pair: Pair, order: tuple[str, ...]) -> int:
    return order.index(pair[0]) if pair[0] in order else len(order)
