"""Speed and memory, as ratios to references measured in the same run. See README.md here."""

import gc
import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import simpy

from archsim.api import simulate
from archsim.arch import VregArch, load
from archsim.base.dtypes import F32
from archsim.cost.vreg.timing import UbBanks, VregCost
from archsim.isa.vreg import VectorFunction, VregLoop, VregMem, VregUop
from archsim.report.summary import summary

TIMEOUTS = 200_000


def seconds(work: Callable[[], object], runs: int = 5) -> float:
    """Least processor time of several runs: the one that the machine disturbed least."""
    best = float("inf")
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def wall(command: list[str], runs: int = 7) -> float:
    """Median wall time of a command."""
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - start)
    return median(taken)


def start_up() -> None:
    """`archsim --help` and one question against an empty interpreter."""
    archsim = str(Path(sys.executable).with_name("archsim"))
    empty = wall([sys.executable, "-c", "pass"])
    help_ = wall([archsim, "--help"])
    question = wall([archsim, "cycles", "texp", "--shape", "64x64"])
    print(f"archsim --help        {help_:.3f} s, {help_ - empty:.3f} s more than python -c pass")
    print(f"archsim cycles texp   {question:.3f} s, {question / empty:.1f} times python -c pass")


def long_loop() -> None:
    """A periodic vector function: its time must not grow with its trip count."""
    arch = load("a5")
    assert isinstance(arch, VregArch)
    ub = arch.memory.ub

    def run(iterations: int) -> Callable[[], object]:
        def load_(register: str, addr: int) -> VregUop:
            memory = VregMem(addr, (256,), F32, 64)
            return VregUop("VLDS", "fp32", (register,), (), F32, memory)

        store = VregUop("VSTS", "fp32", (), ("v2",), F32, VregMem(0x20000, (256,), F32, 64))
        add = VregUop("VADD", "fp32", ("v2",), ("v0", "v1"), F32)
        body = (load_("v0", 0), load_("v1", 0x10000), add, store)
        function = VectorFunction((VregLoop(iterations, body, post_update=True),))
        return lambda: VregCost(
            arch.vector, arch.uops, UbBanks(ub.bank_groups, ub.banks_per_group)
        ).time(function)

    short, long = seconds(run(100)), seconds(run(10_000))
    print(f"A5 loop               10,000 against 100 iterations: {long / short:.2f} times")


def program(rounds: int) -> dict[str, object]:
    """A double-buffered loop of four tile instructions a round."""
    rows = 16 * rounds
    tensor = {"dtype": "f32", "shape": [rows, 64]}
    tile = {"loc": "vec", "dtype": "f32", "shape": [16, 64], "ring": 2}
    slots: list[object] = [{"record": "in_free[s]"}, {"record": "out_free[s]"}]
    body: list[object] = [
        {"wait": "in_free[i % 2]"},
        "tload ta[i % 2] <- a[i*16, 0]",
        "tload tb[i % 2] <- b[i*16, 0]",
        {"record": "ready[i % 2]"},
        {"wait": "ready[i % 2]"},
        {"wait": "out_free[i % 2]"},
        "tadd tc[i % 2] <- ta[i % 2], tb[i % 2]",
        {"record": "in_free[i % 2]"},
        {"record": "done[i % 2]"},
        {"wait": "done[i % 2]"},
        "tstore c[i*16, 0] <- tc[i % 2]",
        {"record": "out_free[i % 2]"},
    ]
    pipes = {
        "ready": ("tload", "vec"),
        "done": ("vec", "tstore"),
        "in_free": ("vec", "tload"),
        "out_free": ("tstore", "vec"),
    }
    return {
        "pto": 1,
        "arch": "a2a3",
        "sync": "explicit",
        "tensors": dict.fromkeys("abc", tensor),
        "tiles": {f"t{name}": {**tile, "addr": 8192 * i} for i, name in enumerate("abc")},
        "events": {n: {"from": a, "to": b, "ring": 2} for n, (a, b) in pipes.items()},
        "program": [
            {"for": {"var": "s", "range": 2}, "do": slots},
            {"for": {"var": "i", "range": rounds}, "do": body},
            {
                "for": {"var": "s", "range": 2},
                "do": [{"wait": "in_free[s]"}, {"wait": "out_free[s]"}],
            },
        ],
    }


def engine(folder: Path) -> None:
    """Tile instructions a second against timeouts a second, and memory by length."""

    def written(rounds: int) -> str:
        path = folder / f"loop{rounds}.json"
        path.write_text(json.dumps(program(rounds)))
        return str(path)

    def bare() -> None:
        def clock() -> Iterator[simpy.Event]:
            for _ in range(TIMEOUTS):
                yield env.timeout(1)

        env = simpy.Environment()
        env.process(clock())
        env.run()

    path = written(2048)
    run = seconds(lambda: json.dumps(summary(simulate(path, numerics=False))))
    rate, reference = 8192 / run, TIMEOUTS / seconds(bare)
    share = rate / reference
    print(f"engine                {rate:,.0f} instructions/s, {share:.1%} of a bare SimPy loop")
    print(
        f"memory                {peak(written(8192)) / peak(path):.2f} times for 4 times the length"
    )


def peak(path: str) -> int:
    """Peak bytes that a run allocates."""
    tracemalloc.start()
    simulate(path, numerics=False)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def main() -> None:
    """Every figure, a line each."""
    gc.disable()  # as the command line does; `seconds` collects between two runs
    start_up()
    long_loop()
    with tempfile.TemporaryDirectory() as folder:
        engine(Path(folder))


if __name__ == "__main__":
    main()
