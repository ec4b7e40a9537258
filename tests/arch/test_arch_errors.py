"""Every way in which a chip file or an override can be wrong, with the whole message."""

import pytest

import archsim.arch as arch
from archsim.base.errors import InputError


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Writes chip.yaml and gives the text of the error that loading it raises."""
    monkeypatch.chdir(tmp_path)

    def load(text, *overrides):
        (tmp_path / "chip.yaml").write_text(text)
        with pytest.raises(InputError) as caught:
            arch.load("chip.yaml", overrides)
        return str(caught.value)

    return load


def override_refused(path, value, chip="a2a3"):
    with pytest.raises(InputError) as caught:
        arch.load(chip, [(path, value)])
    return str(caught.value)


# ---- keys


def test_an_unknown_key_names_a_near_one_and_what_it_means(refused):
    assert refused("extends: a2a3\npipes:\n  V:\n    deph: 4\n") == (
        'chip.yaml:4:5: unknown key "deph" in pipes.V\n'
        "    4 |     deph: 4\n      |     ^^^^\n"
        '  did you mean "queue_depth"? (entries of the issue queue)'
    )


def test_an_unknown_key_with_nothing_near_lists_the_known_ones(refused):
    assert refused("extends: a2a3\nevents: {zzz: 4}\n") == (
        'chip.yaml:2:10: unknown key "zzz" in events\n'
        "    2 | events: {zzz: 4}\n      |          ^^^\n"
        "  known keys: ids, latency_cycles"
    )


def test_an_unknown_section(refused):
    assert refused("extends: a2a3\nmemories: {ub: {size_bytes: 1 KiB}}\n") == (
        'chip.yaml:2:1: unknown key "memories"\n'
        "    2 | memories: {ub: {size_bytes: 1 KiB}}\n      | ^^^^^^^^\n"
        '  did you mean "memory"?'
    )


def test_an_unknown_pipe_and_an_unknown_element_type(refused):
    assert refused(
        "extends: a2a3\npipes:\n  VV: {queue_depth: 3}\n"
        "uops:\n  vexp: {by_dtype: {half: {slope_cycles: 3}}}\n"
    ) == (
        'chip.yaml:3:3: unknown key "VV" in pipes; it must be a pipe: '
        "S, MTE2, MTE1, V, M, FIX, MTE3\n"
        "    3 |   VV: {queue_depth: 3}\n      |   ^^\n"
        '  did you mean "V"?\n'
        'chip.yaml:5:21: unknown key "half" in uops.vexp.by_dtype; it must be an element type: '
        "f32, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, f8e4m3, f8e5m2, hif8, f4e2m1, "
        "f4e1m2\n"
        "    5 |   vexp: {by_dtype: {half: {slope_cycles: 3}}}\n"
        "      |                     ^^^^\n"
        '  write "f16"'
    )


def test_a_misspelt_word_beside_a_value(refused):
    assert refused("extends: a2a3\nscalar: {issue_cycles: {value: 1, sorce: x}}\n") == (
        'chip.yaml:2:35: unknown key "sorce" in scalar.issue_cycles\n'
        "    2 | scalar: {issue_cycles: {value: 1, sorce: x}}\n"
        "      |                                   ^^^^^\n"
        '  did you mean "source"?'
    )


def test_an_unfinished_row_names_a_near_one(refused):
    assert refused("extends: a2a3\nuops: {vvadd: {head_cycles: 1, slope_cycles: 2}}\n") == (
        "chip.yaml:2:8: uops.vvadd has no tail_cycles (from the last slot to completion)\n"
        "    2 | uops: {vvadd: {head_cycles: 1, slope_cycles: 2}}\n"
        "      |        ^^^^^\n"
        '  did you mean "vadd"?'
    )


def test_a_floor_belongs_to_the_simd_style(refused):
    assert refused("extends: a5\nuops: {VADD: {floor_cycles: {count: 2}}}\n") == (
        'chip.yaml:2:15: unknown key "floor_cycles" in uops.VADD\n'
        "    2 | uops: {VADD: {floor_cycles: {count: 2}}}\n"
        "      |               ^^^^^^^^^^^^\n"
        "  floor_cycles belongs to the simd style; this core is of the vreg style"
    )


# ---- values


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "pipes.V.queue_depth",
            "0",
            "pipes.V.queue_depth is 0; it must be an integer >= 1 (entries of the issue queue)",
        ),
        (
            "pipes.V.queue_depth",
            "2.5",
            "pipes.V.queue_depth is 2.5; it must be an integer >= 1 (entries of the issue queue)",
        ),
        (
            "pipes.V.queue_depth",
            "true",
            "pipes.V.queue_depth is true; it must be an integer >= 1 (entries of the issue queue)",
        ),
        (
            "events.latency_cycles",
            "-1",
            "events.latency_cycles is -1; it must be an integer >= 0 "
            "(from a set to the wait that it lets go)",
        ),
        (
            "uops.vadd.head_cycles",
            "-0.5",
            "uops.vadd.head_cycles is -0.5; it must be a number >= 0 (paid where the pipe is idle)",
        ),
        (
            "uops.vadd.head_cycles",
            ".nan",
            "uops.vadd.head_cycles is nan; it must be a number >= 0 (paid where the pipe is idle)",
        ),
        (
            "paths.gm_to_ub.bytes_per_cycle",
            "0",
            "paths.gm_to_ub.bytes_per_cycle is 0; it must be a number > 0 "
            "(rate behind the start-up)",
        ),
        (
            "paths.gm_to_ub.bytes_per_cycle",
            "1/0",
            'paths.gm_to_ub.bytes_per_cycle is "1/0"; it must be a number > 0 '
            "(rate behind the start-up)",
        ),
        (
            "memory.ub.bank_groups",
            "12",
            "memory.ub.bank_groups is 12; it must be a power of two "
            "(groups that adjacent 32-byte blocks walk through)",
        ),
        (
            "memory.ub.size_bytes",
            "192 KB",
            'memory.ub.size_bytes is "192 KB"; it must be a whole number of bytes, such as 196608 '
            'or "192 KiB" (units: B, KiB, MiB, GiB) (capacity)\n  did you mean "KiB"?',
        ),
        (
            "memory.ub.size_bytes",
            "0",
            "memory.ub.size_bytes is 0; it must be more than 0: a whole number of bytes, such as "
            '196608 or "192 KiB" (units: B, KiB, MiB, GiB) (capacity)',
        ),
        (
            "frequency_hz",
            "1.85 ghz",
            'frequency_hz is "1.85 ghz"; it must be a whole number of hertz, such as 1850000000 or '
            '"1.85 GHz" (units: Hz, kHz, MHz, GHz) (core clock)\n  did you mean "GHz"?',
        ),
        (
            "vector.bank_conflicts",
            "by_adress",
            'vector.bank_conflicts is "by_adress"; it must be by_address or always or off '
            "(how two-input slopes are chosen: from the addresses, the conflict slope always, or "
            'never)\n  did you mean "by_address"?',
        ),
        (
            "vector.count_mode_slope",
            "yes",
            'vector.count_mode_slope is "yes"; it must be true or false '
            "(whether repeats in count mode take slots)",
        ),
        (
            "numerics.profile",
            "reste",
            'numerics.profile is "reste"; it must be reset or infnan (reset: half saturates and '
            'NaN becomes 0; infnan: IEEE)\n  did you mean "reset"?',
        ),
        ("pipes", "4", "pipes is 4; it must be a mapping"),
        ("pipes.V", "[1, 2]", "pipes.V is a list; it must be a mapping"),
        ("scalar", "null", "scalar is empty; it must be a mapping"),
        ("vector", "3", "vector is 3; it must be a mapping"),
        ("isa", "a3", 'isa is "a3"; it must be a2a3 or a5 (generation: picks the instruction '
         "tables)\n  did you mean \"a2a3\"?"),
        ("vector.style", "simdd", 'vector.style is "simdd"; it must be simd or vreg\n'
         '  did you mean "simd"?'),
        ("name", "[1]", "name is a list; it must be a text that is not empty"),
        (
            "uops.vadd.head_cycles.x",
            "1",
            "uops.vadd.head_cycles is a mapping; it must be a number >= 0 "
            "(paid where the pipe is idle)",
        ),
    ],
)  # fmt: skip
def test_wrong_values_of_overrides(path, value, message):
    assert override_refused(path, value) == f"--set {path}={value}: {message}"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "vector.dispatch_width",
            "0",
            "vector.dispatch_width is 0; it must be a whole number, 1 or more (micro-ops a cycle)",
        ),
        (
            "vector.drain_cycles",
            "x",
            'vector.drain_cycles is "x"; it must be a number (after the last result)',
        ),
        (
            "vector.port_binding",
            "x",
            'vector.port_binding is "x"; it must be round_robin or predictor (in turn in program '
            "order, or by predicted start)",
        ),
        (
            "vector.widht_bytes",
            "x",
            'unknown key "widht_bytes" in vector\n  did you mean "width_bytes"? (bytes of one '
            "register; a multiple of 32, so that masks are whole bytes)",
        ),
    ],
)
def test_wrong_values_of_vreg_overrides(path, value, message):
    assert override_refused(path, value, "a5") == f"--set {path}={value}: {message}"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("pipes.V.deph", "4", 'unknown key "deph" in pipes.V\n'
         '  did you mean "queue_depth"? (entries of the issue queue)'),
        ("uops.vad.head_cycles", "3", 'no row "vad" in uops\n  did you mean "vadd"?'),
        ("paths.gm_to_ubb.startup_cycles", "3", 'no row "gm_to_ubb" in paths\n'
         '  did you mean "gm_to_ub"?'),
        ("frequency", "3", 'unknown key "frequency"\n  did you mean "frequency_hz"? (core clock)'),
        ("pipes.V.queue_depth", "", "the value is missing"),
        ("pipes.V.queue_depth", "[1", "not valid YAML: did not find expected ',' or ']' while "
         "parsing a flow sequence"),
        ("pipes.V.queue_depth", "1: 2: 3", 'not valid YAML: a second ": " on the line, or wrong '
         "indentation"),
    ],
)  # fmt: skip
def test_overrides_that_lead_nowhere(path, value, message):
    assert override_refused(path, value) == f"--set {path}={value}: {message}"


def test_all_faults_come_at_once_in_order_of_place(refused):
    text = (
        "extends: a2a3\n"
        "events: {ids: x}\n"
        "pipes: {V: {queue_depth: 0}}\n"
        "uops: {vadd: {slope_cycles: -1, basis: guess, source: 3}}\n"
        "events: {ids: 3}\n"
    )
    assert refused(text, ("scalar.issue_cycles", "x")) == (
        '--set scalar.issue_cycles=x: scalar.issue_cycles is "x"; it must be an integer >= 0 '
        "(cycles to put one instruction into a queue)\n"
        'chip.yaml:2:15: events.ids is "x"; it must be an integer >= 1 '
        "(flags for each pair of pipes)\n"
        "    2 | events: {ids: x}\n      |               ^\n"
        "chip.yaml:3:26: pipes.V.queue_depth is 0; it must be an integer >= 1 "
        "(entries of the issue queue)\n"
        "    3 | pipes: {V: {queue_depth: 0}}\n      |                          ^\n"
        "chip.yaml:4:29: uops.vadd.slope_cycles is -1; it must be a number >= 0 "
        "(per repeat, reads in different bank groups)\n"
        "    4 | uops: {vadd: {slope_cycles: -1, basis: guess, source: 3}}\n"
        "      |                             ^^\n"
        'chip.yaml:4:40: uops.vadd.basis is "guess"; it must be one of measured, fitted, '
        "documented, assumed, placeholder, override\n"
        "    4 | uops: {vadd: {slope_cycles: -1, basis: guess, source: 3}}\n"
        "      |                                        ^^^^^\n"
        "chip.yaml:4:55: uops.vadd.source is 3; it must say where the number comes from\n"
        "    4 | uops: {vadd: {slope_cycles: -1, basis: guess, source: 3}}\n"
        "      |                                                       ^\n"
        'chip.yaml:5:1: key "events" is written twice, first at chip.yaml:2:1; '
        "a mapping holds each key once\n"
        "    5 | events: {ids: 3}\n      | ^^^^^^"
    )


# ---- rules between values


def test_the_reserve_must_leave_room(refused):
    assert refused("extends: a2a3\nmemory: {ub: {reserved_top_bytes: 192 KiB}}\n") == (
        'chip.yaml:2:35: memory.ub.reserved_top_bytes is "192 KiB"; it must be less than '
        "size_bytes, 192 KiB\n"
        "    2 | memory: {ub: {reserved_top_bytes: 192 KiB}}\n"
        "      |                                   ^^^^^^^"
    )


def test_a_reserve_of_all_but_a_byte_or_of_nothing_is_fine():
    for value in ("196607", "0"):
        config = arch.load("a2a3", [("memory.ub.reserved_top_bytes", value)])
        assert config.memory.ub.reserved_top_bytes == int(value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("memory.l0c.size_bytes", "1000",
         "memory.l0c.size_bytes is 1000; it must be a multiple of 1024 bytes"),
        ("vector.width_bytes", "48",
         "vector.width_bytes is 48; it must be a multiple of 32 and of block_bytes, 32"),
        ("vector.block_bytes", "64000",
         "vector.width_bytes is 256; it must be a multiple of 32 and of block_bytes, 64000"),
        ("uops.vadd.slope_cycles", "2.05",
         "uops.vadd.conflict_slope_cycles is 2; it must be at least slope_cycles, 2.05"),
        ("uops.vmul.by_dtype.f32.conflict_slope_cycles", "0.5",
         "uops.vmul.by_dtype.f32.conflict_slope_cycles is 0.5; it must be at least slope_cycles, "
         "1 for f32"),
    ],
)  # fmt: skip
def test_values_that_disagree(path, value, message):
    assert override_refused(path, value) == f"--set {path}={value}: {message}"


@pytest.mark.parametrize(
    ("path", "value"),
    [("vector.repeat_max", "1"), ("uops.vadd.slope_cycles", "2"), ("vector.width_bytes", "512")],
)
def test_values_that_just_agree(path, value):
    assert arch.load("a2a3", [(path, value)]).basis_of(path)[0] == "override"


def test_a_disagreement_is_told_at_the_layer_that_broke_the_peace(refused):
    assert refused("extends: a2a3\nvector: {repeat_max: 100, width_bytes: 48}\n") == (
        "chip.yaml:2:40: vector.width_bytes is 48; it must be a multiple of 32 and of "
        "block_bytes, 32\n"
        "    2 | vector: {repeat_max: 100, width_bytes: 48}\n"
        "      |                                        ^^"
    )


def test_masks_of_a_vreg_core_are_whole_bytes():
    assert override_refused("vector.width_bytes", "100", "a5") == (
        "--set vector.width_bytes=100: vector.width_bytes is 100; it must be a multiple of 32"
    )
    assert arch.load("a5", [("vector.width_bytes", "96")]).vector.width_bytes == 96


@pytest.mark.parametrize(
    ("chip", "style", "other"), [("a2a3", "simd", "vreg"), ("a5", "vreg", "simd")]
)
def test_the_style_of_a_chip_is_no_value_to_change(chip, style, other):
    assert override_refused("vector.style", other, chip) == (
        f"--set vector.style={other}: the chip is of the {style} style, which decides its keys\n"
        "  take a chip of that style: --arch"
    )
    assert arch.load(chip, [("vector.style", style)]).vector.style == style


# ---- basis


def test_every_number_needs_a_basis_where_nothing_is_extended(refused):
    message = refused(
        "isa: a2a3\nfrequency_hz: 1 GHz\nevents: {ids: 8, latency_cycles: 0}\n"
        "scalar: {basis: measured, source: here, issue_cycles: 1}\n"
    )
    found = [line for line in message.splitlines() if "no basis" in line]
    assert found == [
        "chip.yaml:2:1: frequency_hz has no basis and source; every number has both",
        "chip.yaml:3:10: ids, latency_cycles in events have no basis and source; "
        "every number has both",
    ]
    assert message.count("\n  write basis: and source: beside it, or in a mapping around it") == 2
    assert "chip.yaml:1:1: the file has no vector\n" in message
    assert "chip.yaml:1:1: the file has no uops\n" in message


@pytest.mark.parametrize(
    ("has", "lacks", "value"), [("basis", "source", "measured"), ("source", "basis", "me")]
)
def test_a_basis_and_a_source_go_together(refused, has, lacks, value):
    text = f"extends: a2a3\nscalar: {{issue_cycles: 2, {has}: {value}}}\n"
    assert refused(text).splitlines()[0] == (
        f"chip.yaml:2:27: scalar states a {has} but no {lacks}; every number has both"
    )


def test_an_uncertainty_is_a_share(refused):
    text = "extends: a2a3\nscalar: {issue_cycles: 2, uncertainty: 5 %}\n"
    assert refused(text).splitlines()[0] == (
        'chip.yaml:2:40: scalar.uncertainty is "5 %"; it must be a number >= 0 '
        "(a share: 0.05 is 5 %)"
    )


# ---- files


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("a2a4", 'extends: "a2a4" is no chip; it must be one of a2a3, a5 or a file\n{line}'
         '\n  did you mean "a2a3"?'),
        ("nope.yaml", "extends: there is no file nope.yaml\n{line}"),
        ("chip.yaml", "extends goes in a circle: chip.yaml -> chip.yaml\n{line}"),
        ("4", "extends is 4; it must be a chip's name or a file\n{line}"),
        ("", "extends is empty; it must be a chip's name or a file\n{line}"),
    ],
)  # fmt: skip
def test_what_cannot_be_extended(refused, base, message):
    caret = " " * 9 + "^" * max(1, len(base))
    line = f"    1 | extends: {base}\n      | {caret}"
    if not base:
        line = "    1 | extends: \n      |         ^"
    found = refused(f"extends: {base}\n")
    assert found.split(": ", 1)[1] == message.format(line=line)
    assert found.startswith("chip.yaml:1:")


def test_a_circle_through_another_file_names_its_way(refused, tmp_path):
    (tmp_path / "b.yaml").write_text("extends: chip.yaml\n")
    assert refused("extends: b.yaml\n") == (
        "b.yaml:1:10: extends goes in a circle: chip.yaml -> b.yaml -> chip.yaml\n"
        "    1 | extends: chip.yaml\n      |          ^^^^^^^^^"
    )


def test_a_file_that_is_no_mapping(refused):
    assert refused("- 1\n") == (
        "chip.yaml:1:1: the file holds a list; it must hold a mapping\n    1 | - 1\n      | ^"
    )


def test_an_unknown_chip_names_a_near_one():
    with pytest.raises(InputError) as caught:
        arch.load("a2a4")
    assert str(caught.value) == (
        '"a2a4" is no chip; it must be one of a2a3, a5 or a file\n  did you mean "a2a3"?'
    )


def test_a_missing_chip_file():
    with pytest.raises(InputError) as caught:
        arch.load("no/such.yaml")
    assert str(caught.value) == "no/such.yaml: no such file; a YAML or JSON file is read"
