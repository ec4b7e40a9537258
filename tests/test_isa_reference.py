"""`archsim isa` and `archsim cycles all`: the instruction set as people and tools read it."""

from pathlib import Path

import pytest
from cli_runs import archsim

from archsim.arch import load
from archsim.isa.tile_ops import FORMS
from archsim.report.isa_page import isa_page

# Every vector and scalar-tile instruction and every movement of the PTO virtual instruction set
# that this simulator promises: a name may only leave this list with the promise.
NAMES = """
tadd tsub tmul tdiv trem tfmod tpow tmax tmin tand tor txor tshl tshr taddc tsubc tprelu tmuladddst
tfusedmuladd tfusedmuladdrelu tsubrelu taddreluconv tsubreluconv tadddeqrelu tadds tsubs tmuls
tmaxs tmins tdivs trems tfmods tpows tands tors txors tshls tshrs tlrelu taxpy taddsc tsubsc
texpands tabs tneg tnot trelu texp tlog tsqrt trsqrt trecip tcmp tcmps tsel tsels tcvt trowsum
trowmax trowmin trowprod trowargmax trowargmin tcolsum tcolmax tcolmin tcolprod tcolargmax
tcolargmin trowexpand tcolexpand trowexpandadd trowexpandsub trowexpandmul trowexpanddiv
trowexpandmax trowexpandmin trowexpandexpdif tcolexpandadd tcolexpandsub tcolexpandmul
tcolexpanddiv tcolexpandmax tcolexpandmin tcolexpandexpdif tpairreducesum tmov ttrans tconcat
tfillpad tfillpad_expand tfillpad_inplace tci ttri tgather tgatherb tscatter tinterleave
tdeinterleave treshape tsubview tsort32 tmrgsort tpartadd tpartmax tpartmin tpartmul tpartargmax
tpartargmin textract tinsert tsetval tgetval tquant tdequant thistogram trandom tload tstore mgather
mscatter tprefetch tassign
"""
PROMISED = NAMES.split()


def test_no_promised_instruction_is_missing() -> None:
    assert [name for name in PROMISED if name not in FORMS] == []
    assert [name for name in FORMS if name not in PROMISED] == []


@pytest.mark.parametrize("name", FORMS)
def test_each_core_runs_an_instruction_or_says_why_not(name: str) -> None:
    (row,) = archsim("isa", name, "--json").json
    assert list(row["support"]) == ["a2a3", "a5"]
    assert any(core["supported"] for core in row["support"].values())
    for form in row.get("forms", [row]):
        for core in form["support"].values():
            reasons = core["dtypes"] if core["supported"] else core["refused"].split()
            assert len(reasons) > (0 if core["supported"] else 3)


@pytest.mark.parametrize("name", FORMS)
def test_each_form_has_a_sample_with_micro_ops_whose_costs_have_a_source(name: str) -> None:
    (row,) = archsim("isa", name, "--json").json
    forms = {form.form: form for form in FORMS[name]}
    for sample in row["samples"]:
        form = forms[sample["form"]]
        if sample["arch"] not in form.dtypes:
            assert sample["cycles"] is None
        elif form.pipe != "S":
            assert sample["cycles"] > 0, sample
            assert sample["cost"]
            for cost in sample["cost"]:
                assert cost["source"]
                assert cost["basis"] in ("measured", "fitted", "documented", "assumed")


def test_one_instruction_tells_meaning_rules_micro_ops_and_bases() -> None:
    text = archsim("isa", "TPRELU").out
    assert "dst = src0 > 0 ? src0 : src0 * src1" in text
    assert "  - src0 has the valid rows and columns of dst\n" in text
    assert "  - tmp has more valid rows than dst\n" in text
    assert "    vmul  " in text
    assert "    VPRELU: assumed, class default, ALU\n" in text


def test_every_instruction_takes_time_in_the_table() -> None:
    rows = archsim("cycles", "all", "--json").json
    assert {row["op"].lower() for row in rows} <= set(FORMS)
    cells = [
        (row["op"], row["form"], arch, cell) for row in rows for arch, cell in row["archs"].items()
    ]
    silent = [
        cell[:3]
        for cell in cells
        if cell[3]["cycles"] is None
        and cell[2] in next(f for f in FORMS[cell[0].lower()] if f.form == cell[1]).dtypes
    ]
    assert silent == []


def test_a_question_about_all_takes_no_keys() -> None:
    answer = archsim("cycles", "all", "mode=gt")
    assert (answer.code, answer.err) == (2, "`cycles all` takes no --valid and no keys\n1 error\n")


def test_an_unknown_instruction_is_met_with_a_near_one() -> None:
    answer = archsim("isa", "tpreluu")
    assert answer.code == 2
    assert answer.err == '"tpreluu" is no tile instruction\n  did you mean "tprelu"?\n1 error\n'


def test_the_reference_page_is_current() -> None:
    """If this fails: `archsim isa --markdown > docs/isa.md`."""
    page = Path(__file__).parents[1] / "docs" / "isa.md"
    assert page.read_text() == isa_page([load("a2a3"), load("a5")])
