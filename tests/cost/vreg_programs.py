"""Vector functions written by hand, for tests of their time."""

from functools import cache
from pathlib import Path

from archsim.arch import VregArch, load
from archsim.base.dtypes import F32
from archsim.cost.vreg import UbBanks, VfTiming, VregCost
from archsim.isa.vreg import VectorFunction, VregLoop, VregMem, VregNode, VregUop

DATA = Path(__file__).parent / "data"
PUBLIC = str(DATA / "public_vf_model.yaml")
TILE = 1 << 16  # bytes from tile to tile: a multiple of the bank period


@cache
def model(chip: str = "a5", *sets: str) -> VregCost:
    """The cost model of a chip with `path=value` overrides."""
    arch = load(chip, [tuple(text.split("=", 1)) for text in sets])
    assert isinstance(arch, VregArch)
    ub = arch.memory.ub
    return VregCost(arch.vector, arch.uops, UbBanks(ub.bank_groups, ub.banks_per_group))


def time(*nodes: VregNode, chip: str = "a5", sets: tuple[str, ...] = ()) -> VfTiming:
    """The time of a function of these nodes."""
    return model(chip, *sets).time(VectorFunction(nodes))


def cycles(*nodes: VregNode, chip: str = "a5", sets: tuple[str, ...] = ()) -> int:
    """Its cycles."""
    return time(*nodes, chip=chip, sets=sets).cycles


def mem(addr: int, *steps: int, dist: str = "norm", vectors: int = 1) -> VregMem:
    """An access of whole vectors."""
    return VregMem(addr, steps, F32, vectors * 64, dist)


def vlds(dst: str, addr: int = 0, *steps: int, dist: str = "norm") -> VregUop:
    """A load of one vector."""
    return VregUop("VLDS", "fp32", (dst,), (), F32, mem(addr, *steps, dist=dist))


def dintlv(first: str, second: str, addr: int, *steps: int) -> VregUop:
    """A load of two registers."""
    where = mem(addr, *steps, dist="dintlv", vectors=2)
    return VregUop("VLDS", "fp32", (first, second), (), F32, where)


def vsts(src: str, addr: int = 3 * TILE, *steps: int) -> VregUop:
    """A store of one vector."""
    return VregUop("VSTS", "fp32", (), (src,), F32, mem(addr, *steps))


def op(name: str, dst: str, *src: str, form: str = "fp32") -> VregUop:
    """A compute."""
    return VregUop(name, form, (dst,), src, F32)


def barrier(effect: str) -> VregUop:
    """A memory barrier."""
    return VregUop("MEM_BAR", "", (), (), F32, effect=effect)


def loop(iters: int, *body: VregNode, post_update: bool = False) -> VregLoop:
    """A hardware loop."""
    return VregLoop(iters, body, post_update)


def vector_op(name: str, inputs: int, *steps: int, form: str = "fp32") -> tuple[VregUop, ...]:
    """Load the inputs, compute, store; tiles at multiples of the bank period."""
    names = [f"v{k}" for k in range(inputs)]
    loads = [vlds(register, k * TILE, *steps) for k, register in enumerate(names)]
    return (*loads, op(name, f"v{inputs}", *names, form=form), vsts(f"v{inputs}", 3 * TILE, *steps))


def flat(name: str, inputs: int, iters: int, *, post: bool = True, form: str = "fp32") -> VregLoop:
    """The loop of a one-dimensional tile instruction."""
    return loop(iters, *vector_op(name, inputs, 256, form=form), post_update=post)


def nest(name: str, inputs: int, rows: int, inner: int, pitch: int, form: str = "fp32") -> VregLoop:
    """The rows of a two-dimensional tile instruction, `pitch` bytes apart."""
    return loop(rows, loop(inner, *vector_op(name, inputs, pitch, 256, form=form)))
