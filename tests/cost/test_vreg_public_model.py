"""With the extra mechanisms off, the model is the public simulator: every program, every cycle."""

import json

from vreg_programs import DATA, PUBLIC, cycles, op, vector_op, vlds, vsts

from archsim.isa.vreg import VregLoop, VregNode

# tile operation -> its micro-op and number of inputs
BODIES = {
    "TADD": ("VADD", 2),
    "TSUB": ("VSUB", 2),
    "TMUL": ("VMUL", 2),
    "TDIV": ("VDIV", 2),
    "TMAX": ("VMAX", 2),
    "TMINS": ("VMINS", 1),
    "TADDS": ("VADDS", 1),
    "TMULS": ("VMULS", 1),
    "TEXP": ("VEXP", 1),
}


def read(name: str) -> list[dict]:
    return json.loads((DATA / name).read_text())


def one_op(row: dict) -> VregNode:
    body = vector_op(*BODIES[row["tile"]], form=row["dtype"])
    if row["path"] == "1D":
        return VregLoop(row["iters"], body)
    return VregLoop(row["rows"], (VregLoop(row["inner"], body),))


def mixed(nodes: list[dict], form: str) -> tuple[VregNode, ...]:
    return tuple(
        VregLoop(node["loop"], mixed(node["body"], form)) if "loop" in node else micro(node, form)
        for node in nodes
    )


def micro(node: dict, form: str) -> VregNode:
    if node["op"] == "VLDS":
        return vlds(*node["dst"])
    if node["op"] == "VSTS":
        return vsts(*node["src"])
    return op(node["op"], *node["dst"], *node["src"], form=form)


def test_single_operations_are_exact():
    rows = read("vf_public_single.json")
    wrong = [
        (row, got) for row in rows if (got := cycles(one_op(row), chip=PUBLIC)) != row["vf_end"]
    ]
    assert (len(rows), wrong) == (252, [])


def test_mixed_programs_are_exact():
    rows = read("vf_public_mixed.json")
    wrong = [
        (number, row["kind"], row["vf_end"], got)
        for number, row in enumerate(rows)
        if (got := cycles(*mixed(row["program"], row["dtype"]), chip=PUBLIC)) != row["vf_end"]
    ]
    assert (len(rows), wrong) == (92, [])


def test_the_data_tells_the_port_bindings_apart():
    """The mixed programs see who binds the ports: round robin fails some of them."""
    rows = [row for row in read("vf_public_mixed.json") if row["kind"] == "flat_mixed"]
    sets = ("vector.port_binding=round_robin",)
    wrong = [
        row["vf_end"]
        for row in rows
        if cycles(*mixed(row["program"], row["dtype"]), chip=PUBLIC, sets=sets) != row["vf_end"]
    ]
    assert len(wrong) > 5
