"""From chip files and overrides to one checked `ArchConfig`."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from archsim.arch.config import ArchConfig, SimdArch, VregArch, covering_row
from archsim.arch.explain import Explainer
from archsim.arch.layers import ROWS, Flat, Leaf, Origin, dotted, flatten, merge, rows_of, shown
from archsim.arch.provenance import Provenance
from archsim.arch.quantity import Basis
from archsim.arch.tree import nested, require_basis
from archsim.base.errors import Diagnostic, Faults, InputError, did_you_mean
from archsim.base.places import KeyPath
from archsim.base.yaml import Document, parse_document, read_document

STYLES: dict[str | None, type[ArchConfig]] = {"simd": SimdArch, "vreg": VregArch}
_STYLE: KeyPath = ("vector", "style")
_SUFFIXES = (".yaml", ".yml", ".json")


def configs_folder() -> Path:
    """Where the shipped chips are: inside an installed package, else beside it."""
    package = Path(__file__).parents[1]
    installed = package / "configs"
    return installed if installed.is_dir() else package.parent / "configs"


def chip_names() -> tuple[str, ...]:
    """Names of the shipped chips, sorted."""
    return tuple(sorted(path.stem for path in configs_folder().glob("*.yaml")))


def load(
    name_or_path: str, overrides: Sequence[tuple[str, str]] = (), folder: Path | None = None
) -> ArchConfig:
    """A shipped chip or a chip file, with `overrides` (path, value as text) applied.

    A path is relative to `folder` (default: where the process runs). Raises `InputError` with every
    fault of the files and overrides.
    """
    path, display = _resolve(name_or_path, folder)
    faults = Faults()
    chain = _read_chain(path, display, faults)
    flat: Flat = {}
    for document, layer in chain:
        flat = merge(_inherited(flat), _with_basis(layer, document))
    top = Origin(chain[-1][0], ())
    flat.pop(("extends",), None)
    flat.setdefault(("name",), Leaf(path.stem, None, top))
    for pair in overrides:
        flat = _overridden(flat, pair, faults)
    config = _validated(flat, top, faults)
    faults.raise_if_any()
    assert config is not None
    config._overrides = tuple((str(p), str(v)) for p, v in overrides)
    return config


def parse_override(text: str) -> tuple[str, str]:
    """`path=value` as the pair that `load` takes; raises `InputError` where there is no `=`."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        message = f"--set {text}: must be path=value, such as pipes.V.queue_depth=8"
        raise InputError([Diagnostic(message)])
    return path.strip(), value.strip()


def _resolve(name: str, folder: Path | None = None) -> tuple[Path, str]:
    """The file of a shipped chip's name or of a path (relative to `folder`), and its display."""
    if name in chip_names():
        return configs_folder() / f"{name}.yaml", f"{name}.yaml"
    path = Path(name) if folder is None else folder / name
    if path.suffix in _SUFFIXES or path.exists() or "/" in name:
        return path, str(path)
    message = f'"{name}" is no chip; it must be one of {", ".join(chip_names())} or a file'
    raise InputError([Diagnostic(message, None, did_you_mean(name, chip_names()))])


def _read_chain(path: Path, display: str, faults: Faults) -> list[tuple[Document, Flat]]:
    """The documents and values of an `extends:` chain, the base first."""
    chain: list[tuple[Document, Flat]] = []
    seen: list[Path] = []
    names: list[str] = []
    while True:
        seen.append(path.resolve())
        names.append(display)
        document, layer = _read_layer(path, display, faults)
        chain.append((document, layer))
        if "extends" not in document.value:
            return chain[::-1]
        path, display = _base_of(document, path.parent, faults)
        if path.resolve() in seen:
            circle = " -> ".join([*names[seen.index(path.resolve()) :], display])
            faults.add(f"extends goes in a circle: {circle}", document.span(("extends",)))
            faults.raise_if_any()


def _read_layer(path: Path, display: str, faults: Faults) -> tuple[Document, Flat]:
    if path.parent == configs_folder():
        return _shipped_layer(path, display)
    document = read_document(path, display, parse_float=Fraction, faults=faults)
    if not isinstance(document.value, dict):
        what = shown(document.value)
        faults.add(f"the file holds {what}; it must hold a mapping", document.span())
        faults.raise_if_any()
    return document, flatten(document.value, document, faults)


@lru_cache(maxsize=16)
def _shipped_layer(path: Path, display: str) -> tuple[Document, Flat]:
    """A shipped file, read once a process: sweeps load one chip hundreds of times."""
    faults = Faults()
    document = read_document(path, display, parse_float=Fraction, faults=faults)
    layer = flatten(document.value, document, faults)
    faults.raise_if_any()
    return document, layer


def _base_of(document: Document, folder: Path, faults: Faults) -> tuple[Path, str]:
    base, span = document.value["extends"], document.span(("extends",))
    if not isinstance(base, str):
        faults.add(f"extends is {shown(base)}; it must be a chip's name or a file", span)
        faults.raise_if_any()
    try:
        path, display = _resolve(base, folder)
        if path.is_file():
            return path, display
        faults.add(f"extends: there is no file {display}", span)
    except InputError as error:
        (only,) = error.diagnostics
        faults.add(f"extends: {only.message}", span, only.fix)
    faults.raise_if_any()
    raise AssertionError("unreachable: a fault was added")


def _inherited(flat: Flat) -> Flat:
    """What a file hands on to those that extend it."""
    return {path: leaf for path, leaf in flat.items() if path not in (("name",), ("extends",))}


def _with_basis(layer: Flat, document: Document) -> Flat:
    """Numbers that change an extended chip without a basis of their own are overrides."""
    if "extends" not in document.value:
        return layer
    from_here = Provenance(Basis.OVERRIDE, Path(document.source.name).name)
    return {
        path: leaf
        if path in (("name",), ("description",), ("extends",))
        else Leaf(leaf.value, leaf.provenance or from_here, leaf.origin)
        for path, leaf in layer.items()
    }


def _overridden(flat: Flat, pair: tuple[str, str], faults: Faults) -> Flat:
    path, text = pair
    said = f"--set {path}={text}"
    steps: KeyPath = tuple(path.split("."))
    try:
        document = parse_document(text, said, parse_float=Fraction)
    except InputError as error:
        reasons = sorted({d.message for d in error.diagnostics})
        faults.add(f"{said}: {'; '.join(reasons) if text.strip() else 'the value is missing'}")
        return flat
    if len(steps) > 1 and steps[0] in ROWS and not _known_row(flat, steps):
        fix = did_you_mean(str(steps[1]), rows_of(flat, str(steps[0])))
        faults.add(f'{said}: no row "{steps[1]}" in {steps[0]}', None, fix)
        return flat
    value = document.value
    own = flat.get(_STYLE)
    styles = [style for style in STYLES if style == value]  # the value may be of any type
    if steps == _STYLE and own is not None and styles and value != own.value:
        fix = "take a chip of that style: --arch"
        faults.add(
            f"{said}: the chip is of the {own.value} style, which decides its keys", None, fix
        )
        return flat
    for step in reversed(steps):
        value = {step: value}
    layer = {
        at: Leaf(leaf.value, Provenance(Basis.OVERRIDE, said), leaf.origin)
        for at, leaf in flatten(value, document, faults, said).items()
    }
    return merge(flat, layer)


def _known_row(flat: Flat, steps: KeyPath) -> bool:
    rows = {name: name for name in rows_of(flat, str(steps[0]))}
    return str(steps[1]) in rows or covering_row(str(steps[1]), rows) is not None


def _validated(flat: Flat, top: Origin, faults: Faults) -> ArchConfig | None:
    leaf = flat.get(_STYLE)
    style = leaf.value if leaf and isinstance(leaf.value, str) else None
    model = STYLES.get(style, SimdArch)
    require_basis(model, flat, faults)
    tree = nested(model, flat)
    try:
        config = model.model_validate(tree)
    except ValidationError as error:
        Explainer(model, flat, top, faults).explain(error, style_known=style in STYLES)
        return None
    config._values = {dotted(p): leaf.value for p, leaf in flat.items()}
    config._provenance = {dotted(p): leaf.provenance for p, leaf in flat.items() if leaf.provenance}
    return config
