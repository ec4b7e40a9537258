"""A module imports only from lower floors or its own package; nobody but the engine knows SimPy."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "archsim"
# From the ground up; packages on one line never import each other.
FLOORS = (
    {"base"},
    {"arch"},
    {"isa"},
    {"program"},
    {"check", "lower", "cost", "numerics", "trace"},
    {"schedule"},
    {"engine"},
    {"analysis"},
    {"report"},
    {"api"},
    {"study"},
    {"cli"},
)
HEIGHT = {name: floor for floor, names in enumerate(FLOORS) for name in names}


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in HEIGHT)


def package(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            if node.module == "archsim":
                yield from (f"archsim.{alias.name}" for alias in node.names)
            else:
                yield node.module


def test_every_package_has_a_floor() -> None:
    found = {package(path) for path in modules()}
    assert found <= set(HEIGHT)
    assert {"base", "arch", "isa", "program", "lower", "cost", "engine"} <= found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down(path: Path) -> None:
    home = package(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "archsim" and len(parts) > 1 and parts[1] in HEIGHT and parts[1] != home:
            assert HEIGHT[parts[1]] < HEIGHT[home], f"{path.name} on {home} imports {name}"
        if parts[0] == "simpy":
            assert home == "engine", f"{path.name} imports simpy"
