"""What a wheel carries, and that it works from any folder."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cli_runs import ADD, trace

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of this checkout, built by the backend itself: nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    """Where the wheel lies unpacked, as an installation would have it."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def python(site: Path, here: Path, *words: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(
        [sys.executable, *words], cwd=here, env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_it_holds_the_package_with_its_data_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    chips = {f"archsim/configs/{path.name}" for path in (ROOT / "configs").glob("*.yaml")}
    assert {"archsim/configs/a2a3.yaml", "archsim/configs/a5.yaml"} <= chips <= names
    sources = {str(path.relative_to(ROOT)) for path in (ROOT / "archsim").rglob("*.py")}
    assert sources | {"archsim/program/trace.schema.json"} <= names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"archsim"}


def test_it_works_from_any_folder(unpacked, tmp_path):
    code = (
        "import archsim, archsim.arch as arch\n"
        "print(archsim.__file__, *(arch.load(name).name for name in arch.chip_names()))"
    )
    where, *chips = python(unpacked, tmp_path, "-c", code).split()
    assert Path(where).is_relative_to(unpacked)
    assert {"a2a3", "a5"} <= set(chips)
    (tmp_path / "t.yaml").write_text(trace(*ADD))
    for core in ("a2a3", "a5"):
        screen = python(unpacked, tmp_path, "-m", "archsim", "run", "t.yaml", "--arch", core)
        assert f"  {core}@" in screen
    schema = python(unpacked, tmp_path, "-m", "archsim", "schema", "trace")
    assert '"$schema"' in schema
