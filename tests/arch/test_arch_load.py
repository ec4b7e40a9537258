"""Loading chips: values and their basis, layers, overrides, patterns, dumps."""

import pickle
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import archsim.arch as arch
from archsim.arch import Basis, SimdArch, VregArch
from archsim.base.errors import InputError
from archsim.isa.pipes import Pipe


@pytest.fixture
def chip(tmp_path):
    """Writes a chip file and loads it."""

    def write(text, *overrides, name="mine.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return arch.load(str(path), overrides)

    return write


def simd(*overrides):
    config = arch.load("a2a3", overrides)
    assert isinstance(config, SimdArch)
    return config


# ---- shipped chips


def test_shipped_chips_have_names():
    assert arch.chip_names() == ("a2a3", "a5")


def test_a2a3_values():
    config = simd()
    assert (config.name, config.isa, config.frequency_hz) == ("a2a3", "a2a3", 1_850_000_000)
    ub = config.memory.ub
    assert (ub.size_bytes, ub.reserved_top_bytes, ub.alignment_bytes) == (196608, 8192, 32)
    assert (ub.bank_groups, ub.banks_per_group) == (16, 3)
    sizes = [config.memory.l1, config.memory.l0a, config.memory.l0b, config.memory.l0c]
    assert [memory.size_bytes for memory in sizes] == [524288, 65536, 65536, 131072]
    assert (config.scalar.issue_cycles, config.events.ids) == (1, 8)
    assert config.events.latency_cycles == 0
    assert config.vector.style == "simd"
    assert config.vector.write_conflict_cycles == Fraction(77, 100)
    assert config.numerics.profile == "reset"
    assert config.numerics.max_nan == "propagate"


def test_a5_values():
    config = arch.load("a5")
    assert isinstance(config, VregArch)
    assert (config.name, config.isa, config.frequency_hz) == ("a5", "a5", 1_650_000_000)
    assert config.memory.ub.size_bytes == 256 * 1024
    assert (config.memory.ub.bank_groups, config.memory.ub.banks_per_group) == (8, 2)
    assert config.numerics.exp_ftz is True


@pytest.mark.parametrize("name", ["a2a3", "a5"])
def test_every_pipe_has_a_queue(name):
    assert set(arch.load(name).pipes) == {pipe.value for pipe in Pipe}


# ---- costs of simd micro-ops


def test_a_type_of_its_own_replaces_what_it_names():
    f32, f16, every = (simd().uop("vmul", dtype) for dtype in ("float32", "half", None))
    assert (f32.slope, f32.conflict_slope) == (1, Fraction("2.3"))
    assert f16.conflict_slope == Fraction("2.2")
    assert every.conflict_slope == 2
    assert (f32.head, f32.tail, f32.floor_partial, f32.floor_count) == (10, 15, 16, 17)
    assert f32.basis is Basis.MEASURED


def test_a_pattern_row_covers_names_without_a_row_the_longest_first():
    config = simd()
    assert config.uop("vconv_s322f32").slope == 1
    assert config.uop("vconv_f322f16r").slope == Fraction("0.9")
    assert config.uop("vconv_f322f16").slope == Fraction("0.9")
    assert config.uop("vconv_f322f32r").slope == 1


def test_an_unknown_micro_op_names_a_near_one():
    with pytest.raises(KeyError) as caught:
        simd().uop("vad")
    assert caught.value.args == ('no micro-op "vad" in uops; did you mean "vadd"?',)


def test_a_type_of_its_own_may_be_trusted_less_than_its_row():
    config = simd()
    assert config.uop("vexp", "f32").basis is Basis.MEASURED
    assert config.uop("vexp", "f16").basis is Basis.FITTED
    assert config.uop("vexp", "f16").source == "32 lanes a cycle whatever the type"


def test_a_row_divides_time_into_all_its_costs():
    row = simd().uops["vadd"]
    assert set(row.all_cycles()) == {10, 1, 2, 14, 16, 17, Fraction("2.11"), 13}


# ---- basis


def test_basis_of_a_value_a_row_and_a_section():
    config = simd()
    assert config.basis_of("scalar.issue_cycles") == (Basis.ASSUMED, "no figure published")
    assert config.basis_of("paths.gm_to_ub")[0] is Basis.MEASURED
    assert config.basis_of("paths.gm_to_ub.bytes_per_cycle")[0] is Basis.MEASURED
    assert config.basis_of("pipes.M.queue_depth")[0] is Basis.DOCUMENTED
    assert config.basis_of("pipes")[0] is Basis.ASSUMED  # the least trusted of them
    assert config.basis_of("uops.vexp")[0] is Basis.FITTED


def test_basis_of_nothing_is_a_key_error_with_a_near_path():
    with pytest.raises(KeyError) as caught:
        simd().basis_of("scalar.isue_cycles")
    assert caught.value.args == (
        'scalar.isue_cycles: no value with a basis; did you mean "scalar.issue_cycles"?',
    )


# ---- overrides


def test_an_override_changes_the_value_and_its_basis_only():
    config = simd(("memory.ub.size_bytes", "256 KiB"), ("pipes.V.queue_depth", "4"))
    assert config.memory.ub.size_bytes == 262144
    assert config.basis_of("memory.ub.size_bytes") == (
        Basis.OVERRIDE,
        "--set memory.ub.size_bytes=256 KiB",
    )
    assert config.basis_of("memory.ub.bank_groups")[0] is Basis.DOCUMENTED
    assert config.pipes["V"].queue_depth == 4
    assert config.overrides == (("memory.ub.size_bytes", "256 KiB"), ("pipes.V.queue_depth", "4"))


def test_an_override_of_a_row_holds_for_every_type_and_marks_the_row():
    config = simd(("uops.vexp.slope_cycles", "3"), ("uops.vexp.floor_cycles.count", "5"))
    costs = [config.uop("vexp", dtype) for dtype in ("f32", "f16", None)]
    assert [cost.slope for cost in costs] == [3, 3, 3]
    assert {cost.basis for cost in costs} == {Basis.OVERRIDE}
    assert costs[0].floor_count == 5
    assert (costs[0].head, costs[0].tail) == (13, 18)


def test_an_override_of_one_type_leaves_the_others():
    config = simd(("uops.vadd.by_dtype.f32.conflict_slope_cycles", "2.5"))
    assert config.uop("vadd", "f32").conflict_slope == Fraction("2.5")
    assert config.uop("vadd", "f32").basis is Basis.OVERRIDE
    assert config.uop("vadd", "i32").conflict_slope == 2
    assert config.uop("vadd", "i32").basis is Basis.MEASURED


def test_an_override_of_a_covered_name_leaves_its_pattern():
    config = simd(("uops.vconv_s322f32.slope_cycles", "2"))
    assert config.uop("vconv_s322f32").slope == 2
    assert config.uop("vconv_s322f32").head == 14
    assert config.uop("vconv_f162f32").slope == 1
    config = simd(("uops.vconv_*.slope_cycles", "2"))
    assert config.uop("vconv_f162f32").slope == 2


def test_an_override_of_a_path_marks_it():
    path = simd(("paths.gm_to_ub.bytes_per_cycle", "256")).paths["gm_to_ub"]
    assert (path.bytes_per_cycle, path.startup_cycles) == (256, 240)
    assert (path.basis, path.source) == (
        Basis.OVERRIDE,
        "--set paths.gm_to_ub.bytes_per_cycle=256",
    )


def test_an_override_of_a_vreg_row_drops_its_forms():
    config = arch.load("a5", [("uops.VEXP.latency_cycles", "30")])
    assert isinstance(config, VregArch)
    assert config.uops["VEXP"].latency_cycles.value == 30
    assert config.uops["VEXP"].latency_cycles.basis is Basis.OVERRIDE
    assert not config.uops["VEXP"].by_form
    assert arch.load("a5").uops["VEXP"].by_form


def test_an_override_can_take_an_optional_value_away():
    assert (
        simd(("paths.gm_to_ub.plateau_bytes_per_cycle", "null"))
        .paths["gm_to_ub"]
        .plateau_bytes_per_cycle
        is None
    )


def test_the_last_override_of_a_path_wins():
    assert simd(("events.ids", "4"), ("events.ids", "5")).events.ids == 5


SOME = settings(max_examples=40, deadline=None)  # a chip takes tens of milliseconds to load


@SOME
@given(st.fractions(min_value=0, max_value=10**6))
def test_exact_numbers_stay_exact(number):
    said = str(number.numerator) if number.denominator == 1 else str(number)
    assert simd(("vector.write_conflict_cycles", said)).vector.write_conflict_cycles == number


@SOME
@given(st.decimals(0, 1000, places=4))
def test_decimals_stay_exact(number):
    config = simd(("vector.write_conflict_cycles", str(number)))
    assert config.vector.write_conflict_cycles == Fraction(number)


def refused_at(*pair):
    """The messages of an override that is refused; empty where it is taken."""
    try:
        assert simd(pair).overrides == (pair,)
    except InputError as error:
        return [fault.message for fault in error.diagnostics]
    return []


@SOME
@given(st.text(max_size=12), st.text(max_size=12))
def test_any_override_is_taken_or_refused(path, value):
    shown = f"--set {path}={value}: "
    assert all(message.startswith(shown) for message in refused_at(path, value))


SECTIONS = st.sampled_from(["uops", "paths", "pipes", "vector", "memory.ub", "scalar"])
STEPS = st.sampled_from(["vadd", "V", "head_cycles", "basis", "x", "by_dtype", "f32", "style", ""])
VALUES = st.sampled_from(["1", "x", "[1]", "{a: 1}", "{value: 2}", "null"])


@SOME
@given(SECTIONS, st.lists(STEPS, max_size=4), VALUES)
def test_any_path_of_an_override_is_taken_or_refused(section, rest, value):
    path = ".".join([section, *rest])
    shown = f"--set {path}={value}: "
    assert all(message.startswith(shown) for message in refused_at(path, value))


@given(st.text(st.characters(exclude_characters="="), min_size=1).filter(str.strip), st.text())
def test_override_texts_split_at_the_first_equals_sign(path, value):
    assert arch.parse_override(f"{path}={value}") == (path.strip(), value.strip())


@pytest.mark.parametrize("text", ["", "frequency_hz", "=3", "  = 3"])
def test_override_texts_without_path_or_equals_sign_are_refused(text):
    with pytest.raises(InputError) as caught:
        arch.parse_override(text)
    assert str(caught.value) == (f"--set {text}: must be path=value, such as pipes.V.queue_depth=8")


# ---- files


def test_a_file_extends_a_shipped_chip(chip):
    config = chip("extends: a2a3\ndescription: wider\nvector: {width_bytes: 512}\n")
    assert (config.name, config.description, config.isa) == ("mine", "wider", "a2a3")
    assert config.vector.width_bytes == 512
    assert config.basis_of("vector.width_bytes") == (Basis.OVERRIDE, "mine.yaml")
    assert config.uop("vadd", "f32") == simd().uop("vadd", "f32")


def test_a_file_extends_a_file_that_extends_a_chip(chip, tmp_path):
    (tmp_path / "base.yaml").write_text(
        "extends: a5\nname: tuned\nevents: {ids: 16, latency_cycles: 3}\n"
    )
    config = chip("extends: base.yaml\nevents: {latency_cycles: 4}\n")
    assert (config.name, config.isa) == ("mine", "a5")  # a name is not handed on
    assert (config.events.ids, config.events.latency_cycles) == (16, 4)


def test_a_layer_with_a_basis_of_its_own_keeps_it(chip):
    config = chip(
        "extends: a2a3\nscalar: {basis: measured, source: my board, issue_cycles: 2}\n"
        "uops: {vexp: {slope_cycles: {value: 3, basis: fitted, source: my fit}}}\n"
    )
    assert config.basis_of("scalar.issue_cycles") == (Basis.MEASURED, "my board")
    cost = config.uop("vexp", "f16")
    assert (cost.slope, cost.basis, cost.source) == (3, Basis.FITTED, "my fit")


def test_a_layer_may_add_a_row_and_types(chip):
    config = chip(
        "extends: a2a3\nuops:\n  vnew: {head_cycles: 1, slope_cycles: 2.5, tail_cycles: 3,\n"
        "    by_dtype: {f16: {slope_cycles: 5}}, basis: measured, source: here, uncertainty: 0.1}\n"
    )
    assert config.uop("vnew").slope == Fraction("2.5")
    assert config.uop("vnew", "f16").slope == 5
    assert config.uop("vnew").uncertainty == Fraction("0.1")
    assert config.basis_of("uops.vnew") == (Basis.MEASURED, "here")


def test_a_chip_in_json_is_the_same(chip):
    in_json = chip('{"extends": "a2a3", "events": {"ids": 16}}', name="mine.json")
    assert in_json.digest == chip("extends: a2a3\nevents: {ids: 16}\n").digest


# ---- identity


@pytest.mark.parametrize("name", ["a2a3", "a5"])
def test_a_dump_loads_to_the_same_chip(name, tmp_path):
    config = arch.load(name, [("events.ids", "16"), ("paths.gm_to_ub.startup_cycles", "1/3")])
    path = tmp_path / "dump.json"
    path.write_text(config.dump())
    again = arch.load(str(path))
    assert again.digest == config.digest
    assert again.paths["gm_to_ub"].startup_cycles == Fraction(1, 3)
    assert again.basis_of("events.ids") == config.basis_of("events.ids")


def test_the_digest_depends_on_values_and_bases_only(chip):
    plain, same = simd(), chip("extends: a2a3\ndescription: another\n")
    other = simd(("events.ids", "9"))
    stated = chip("extends: a2a3\nevents: {ids: {value: 8, basis: assumed, source: me}}\n")
    assert plain.digest == same.digest
    assert len({plain.digest, other.digest, stated.digest}) == 3
    assert hash(plain) == hash(same)
    assert len(plain.digest) == 64


def test_chips_travel_between_processes():
    config = simd(("events.ids", "9"))
    again = pickle.loads(pickle.dumps(config))
    assert again == config
    assert again.digest == config.digest
    assert again.basis_of("events.ids") == config.basis_of("events.ids")
    assert again.overrides == config.overrides


def test_chips_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        simd().events.ids = 3
