"""What must hold of an instruction's operands: the record of one rule, and words to write it in.

A rule says by its name which test `archsim.check` makes, of which operands; `text` is the sentence
for people. Element types are not here: `TileOp.dtypes` lists them. Sources: the checks that the
device libraries make, and the instructions' own pages.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constraint:
    """One rule: the test `rule` on `operands`."""

    rule: str
    operands: tuple[str, ...]
    text: str


Rules = tuple[Constraint, ...]


def same_dtype(name: str, like: str) -> Constraint:
    """Equal element types."""
    return Constraint("same_dtype", (name, like), f"{name} has the element type of {like}")


def row_major(*names: str) -> Rules:
    """Every tile is row-major."""
    return tuple(Constraint("row_major", (n,), f"{n} is row-major") for n in names)


def in_vec(*names: str) -> Rules:
    """Every tile is in UB."""
    return tuple(Constraint("in_vec", (n,), f"{n} is in vec (UB)") for n in names)


def tiles(*names: str) -> Rules:
    """Row-major tiles in UB."""
    return (*in_vec(*names), *row_major(*names))


def same_valid(*names: str) -> Rules:
    """The valid region of the destination."""
    text = "has the valid rows and columns of dst"
    return tuple(Constraint("same_valid", (n, "dst"), f"{n} {text}") for n in names)


def apart(first: str, second: str) -> Constraint:
    """No byte in common."""
    return Constraint("apart", (first, second), f"{first} and {second} do not overlap")


POSITIVE = Constraint("positive_valid", ("dst",), "dst has at least one valid row and column")
SCALAR_FITS = Constraint(
    "scalar_fits", ("scalar", "dst"), "scalar is a value of dst's element type"
)
NEEDS_TMP = Constraint("has_scratch", ("tmp",), "tmp is given or allocated by the tool")
TMP_PLACE = (*in_vec("tmp"), *row_major("tmp"))
BINARY_RULES = (
    *tiles("dst", "src0", "src1"),
    same_dtype("src0", "dst"),
    same_dtype("src1", "dst"),
    *same_valid("src0", "src1"),
)
UNARY_RULES = (*tiles("dst", "src"), same_dtype("src", "dst"), *same_valid("src"))
