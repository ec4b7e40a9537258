"""What wrong options and chip files are told; the whole message, as text and JSON."""

import numpy as np
import pytest
from cli_runs import ADD, archsim, refused, trace

RATE = "it must be a number > 0 (rate behind the start-up)"
SIZE = (
    'it must be a whole number of bytes, such as 196608 or "192 KiB"'
    " (units: B, KiB, MiB, GiB) (capacity)"
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(trace(*ADD))
    return tmp_path


OPTIONS = {
    ("--arch", "a2a4"): (
        '"a2a4" is no chip; it must be one of a2a3, a5 or a file | did you mean "a2a3"?'
    ),
    ("--arch", "gone.yaml"): "gone.yaml: no such file; a YAML or JSON file is read",
    ("--set", "x"): '--set is "x", must be path=value',
    ("--set", "=4"): '--set is "=4", must be path=value',
    ("--set", "vector.width_byte=4"): (
        '--set vector.width_byte=4: unknown key "width_byte" in vector'
        ' | did you mean "width_bytes"? (bytes of one repeat)'
    ),
    ("--set", "uops.vad.head_cycles=3"): (
        '--set uops.vad.head_cycles=3: no row "vad" in uops | did you mean "vadd"?'
    ),
    ("--set", "paths.gm_to_ub.bytes_per_cycle=0"): (
        f"--set paths.gm_to_ub.bytes_per_cycle=0: paths.gm_to_ub.bytes_per_cycle is 0; {RATE}"
    ),
    ("--set", "memory.ub.size_bytes=64KiX"): (
        f'--set memory.ub.size_bytes=64KiX: memory.ub.size_bytes is "64KiX"; {SIZE}'
        ' | did you mean "KiB"?'
    ),
    ("--set", "vector.style=simt"): (
        '--set vector.style=simt: vector.style is "simt"; it must be simd or vreg'
        ' | did you mean "simd"?'
    ),
    ("--set", "memory.ub.size_bytes=17408"): (
        "t.yaml:11:3: tile tc takes 4 KiB and finds no room:"
        " 8 KiB of the 9 KiB of UB on a2a3 are taken"
        " | make tiles or rings smaller, or let tiles share an address"
    ),
    ("--arg", "N"): '--arg is "N", must be name=value',
    ("--arg", "N=x"): '--arg N is "x"; must be a number',
    ("--arg", "M=1"): "--arg M: the program has no such scalar; it has N",
    ("--input", "a"): '--input is "a", must be tensor=file.npy',
    ("--input", "a=gone.npy"): "--input a: gone.npy: no such file",
    ("--input", "z=a.npy"): "--input z: the program has no such tensor; it has a, c",
    ("--input", "a=t.yaml"): (
        "--input a: t.yaml cannot be read: it holds something else;"
        " must be a .npy or .npz file of plain numbers"
    ),
    ("--input", "a=small.npy"): "--input a: small.npy has shape [3, 3]; tensor a has [64, 64]",
    ("--input", "a=double.npy"): (
        '--input a: double.npy holds float64; tensor a is f32 | save it with .astype("float32")'
    ),
    ("--sync", "atuo"): '--sync is "atuo", must be auto or explicit | did you mean "auto"?',
}  # fmt: skip


@pytest.mark.parametrize("words", OPTIONS, ids=" ".join)
def test_a_wrong_option(here, words):
    np.save(here / "small.npy", np.zeros((3, 3), np.float32))
    np.save(here / "double.npy", np.zeros((64, 64)))
    assert refused("run", "t.yaml", *words) == [OPTIONS[words]]


def test_a_wrong_option_is_told_once_for_all_programs():
    words = ("--set", "x", "--set", "y", "--arg", "N")
    faults = ['--set is "x", must be path=value', '--set is "y", must be path=value']
    assert refused("check", "t.yaml", "t.yaml", *words) == faults


CYCLES = {
    ("taddd",): '"taddd" is no tile instruction | did you mean "tadd"?',
    ("tadd", "--dtype", "f33"): '"f33" is no element type | did you mean "f32"?',
    ("tadd", "--shape", "16"): (
        '--shape is "16", must be ROWSxCOLS, both at least 1, such as 16x64'
    ),
    ("tadd", "--shape", "0x4"): (
        '--shape is "0x4", must be ROWSxCOLS, both at least 1, such as 16x64'
    ),
    ("tadd", "--shape", "16x7"): (
        "a row of 7 f32 is 28 bytes, must be a multiple of 32"
        " | take --shape ROWSx8 and --valid ROWSx7"
    ),
    ("tadd", "--valid", "17x64"): "--valid is 17x64, must lie inside --shape 16x64",
    ("tadd", "--arch", "a6"): '"a6" is no chip; it must be one of a2a3, a5 or a file',
    ("tadd", "foo=1"): 'tadd has no key "foo"',
    ("tadd", "foo"): '"foo" must be key=value',
    ("tadd", "--dtype", "i8"): (
        "tadd takes i32, i16, f16, f32 on a2a3; i8 is not among them (a5 takes it)"
    ),
}


@pytest.mark.parametrize("words", CYCLES, ids=" ".join)
def test_a_wrong_question(words):
    assert refused("cycles", *words) == [CYCLES[words]]


def test_an_instruction_or_schema_that_does_not_exist():
    fault = '"tprel" is no tile instruction | did you mean "tprelu"?'
    assert refused("isa", "tprel") == [fault]
    answer = archsim("schema", "trce")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        'schema is "trce", must be trace or arch\n  did you mean "trace"?\n1 error\n'
    )


CHIPS = {
    "memory: {ub: {size_bytes: 192 KiX}}": [
        f'2:27: memory.ub.size_bytes is "192 KiX"; {SIZE} | did you mean "KiB"?'
    ],
    "memory: {ub: {size_byte: 192KiB}}\npipes: {V: {deph: 4}}": [
        '2:15: unknown key "size_byte" in memory.ub | did you mean "size_bytes"? (capacity)',
        '3:13: unknown key "deph" in pipes.V'
        ' | did you mean "queue_depth"? (entries of the issue queue)',
    ],
    "name: [": [
        "2:7: not valid YAML: did not find expected node content while parsing a flow node"
        " | put a text that holds [ in quotes"
    ],
    "scalar: {issue_cycles: {value: 1, basis: guess, source: x}}": [
        '2:42: scalar.issue_cycles.basis is "guess"; it must be one of measured, fitted,'
        " documented, assumed, placeholder, override"
    ],
    "name: x\nname: y": [
        '3:1: key "name" is written twice, first at chip.yaml:2:1; a mapping holds each key once'
    ],
}


@pytest.mark.parametrize("case", CHIPS)
def test_a_wrong_chip_file(here, case):
    (here / "chip.yaml").write_text(f"extends: a2a3\n{case}\n")
    faults = [f"chip.yaml:{fault}" for fault in CHIPS[case]]
    assert refused("run", "t.yaml", "--arch", "chip.yaml") == faults
    assert refused("cycles", "tadd", "--arch", "chip.yaml") == faults


def test_a_chip_beside_the_program(here):
    (here / "sub").mkdir()
    (here / "sub/t.yaml").write_text(trace(*ADD).replace("arch: a2a3", "arch: chip.yaml"))
    assert refused("run", "sub/t.yaml") == [
        "sub/t.yaml:2:7: sub/chip.yaml: no such file; a YAML or JSON file is read"
    ]
    (here / "sub/chip.yaml").write_text("extends: a2a3\nname: mine\n")
    assert archsim("run", "sub/t.yaml", "--json").json["arch"] == "mine"


def test_the_core_that_a_program_names(here):
    (here / "t.yaml").write_text(trace(*ADD).replace("arch: a2a3", "arch: a2a33"))
    assert refused("run", "t.yaml") == [
        't.yaml:2:7: "a2a33" is no chip; it must be one of a2a3, a5 or a file'
        ' | did you mean "a2a3"?'
    ]
    assert archsim("run", "t.yaml", "--arch", "a5", "--quiet").code == 0
    (here / "t.yaml").write_text(trace(*ADD).replace("arch: a2a3\n", ""))
    assert refused("run", "t.yaml") == [
        "t.yaml: no core to run on is named"
        " | write arch: a2a3 at the top, or run it with --arch a2a3"
    ]
    (here / "t.yaml").write_text(trace(*ADD).replace("arch: a2a3", "arch: a5\narchs: [a5]"))
    assert refused("run", "t.yaml", "--arch", "a2a3") == [
        "t.yaml:3:8: t.yaml is meant for a5; a2a3 is not among them | run it with --arch a5"
    ]
