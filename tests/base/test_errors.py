"""How faults read: place, source line, caret, fix; near names."""

import pytest

from archsim.base.errors import Diagnostic, Faults, InputError, did_you_mean
from archsim.base.source import Source, Span


def fault(line, column, width, fix=None):
    return Diagnostic("it is wrong", Span(Source.of("f.json", line), 1, column, width), fix)


def test_a_fault_quotes_its_line_and_points_at_the_place():
    assert fault("depth: four", 8, 4, "write 4").render() == (
        "f.json:1:8: it is wrong\n    1 | depth: four\n      |        ^^^^\n  write 4"
    )


@pytest.mark.parametrize("length", [161, 100_000])
@pytest.mark.parametrize("where", [0, 0.3, 0.5, 1])
def test_a_long_line_is_quoted_around_the_place(length, where):
    at = int(where * (length - 2))
    line = "." * at + "XY" + "." * (length - at - 2)
    head, quoted, caret = fault(line, at + 1, 2).render().splitlines()
    assert head == f"f.json:1:{at + 1}: it is wrong"
    assert len(quoted) <= 174
    assert quoted[caret.index("^") : caret.index("^") + 2] == "XY"
    assert caret.endswith(" ^^")


def test_a_line_of_the_full_width_is_quoted_whole():
    assert fault("." * 160, 160, 1).render().splitlines()[1] == "    1 | " + "." * 160


def test_faults_come_in_order_of_place_each_once():
    source = Source.of("f.yaml", "a\nb\n")
    faults = Faults()
    for line in (2, 1, 2):
        faults.add("wrong", Span(source, line, 1))
    with pytest.raises(InputError) as caught:
        faults.raise_if_any()
    assert [fault.span.line for fault in caught.value.diagnostics] == [1, 2]
    Faults().raise_if_any()


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("vad", ["vand", "vadd"], "vadd"),  # equally near: the one that begins alike
        ("TADD", ["tadd"], "tadd"),
        ("tad", ["TADD"], "TADD"),
        ("xyz", ["tadd"], None),
        ("x", [], None),
    ],
)
def test_near_names(name, known, near):
    assert did_you_mean(name, known) == (near and f'did you mean "{near}"?')
