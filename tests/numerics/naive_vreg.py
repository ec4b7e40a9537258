"""A second model of vector functions on 32-bit integers: one iteration, one lane at a time."""

import struct
from collections.abc import Sequence

from archsim.isa.vreg import Tail, VregLoop, VregMem, VregNode, VregUop


def _wrapped(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


class NaiveUnit:
    """UB as a byte array, registers as lists of integers or booleans."""

    def __init__(self, ub: bytes) -> None:
        self.ub = bytearray(ub)
        self.written: set[int] = set()
        self.registers: dict[str, list[int]] = {}

    def run(self, nodes: Sequence[VregNode], indices: tuple[int, ...] = ()) -> None:
        for node in nodes:
            if isinstance(node, VregLoop):
                for index in range(node.iters):
                    self.run(node.body, (*indices, index))
            else:
                self._uop(node, indices)

    def _uop(self, uop: VregUop, indices: tuple[int, ...]) -> None:
        if uop.mem is not None:
            at = uop.mem.addr + sum(i * s for i, s in zip(indices, uop.mem.steps, strict=True))
            self._memory(uop, uop.mem, at, indices)
            return
        sources = [self.registers[name] for name in uop.src]
        lanes = max((len(lanes) for lanes in sources), default=8)
        if uop.op == "VCADD":
            on = [value for k, value in enumerate(sources[0]) if self._on(uop, k, indices)]
            self.registers[uop.dst[0]] = [_wrapped(sum(on)), *[0] * (lanes - 1)]
            return
        result = []
        for lane in range(lanes):
            values = [source[lane] for source in sources]
            result.append(self._lane(uop, values) if self._on(uop, lane, indices) else 0)
        self.registers[uop.dst[0]] = result

    def _on(self, uop: VregUop, lane: int, indices: tuple[int, ...]) -> bool:
        if uop.pred is None:
            return True
        if not isinstance(uop.pred, Tail):
            return bool(self.registers[uop.pred][lane])
        index = indices[-1] if indices else 0
        tail = uop.pred
        return tail.offset + index * tail.step + lane < tail.total

    def _memory(self, uop: VregUop, mem: VregMem, at: int, indices: tuple[int, ...]) -> None:
        if uop.op == "VLDS" and mem.dist in ("brc", "e2b"):  # 8 lanes are one block
            self.registers[uop.dst[0]] = [self._word(at)] * 8
        elif uop.op == "VLDS" and mem.dist == "dintlv":
            for part, name in enumerate(uop.dst):
                self.registers[name] = [self._word(at + 8 * lane + 4 * part) for lane in range(8)]
        elif uop.op == "VLDS":
            self.registers[uop.dst[0]] = [self._word(at + 4 * lane) for lane in range(8)]
        elif uop.op == "PLDS":
            bits = [self.ub[at + lane // 8] >> lane % 8 & 1 for lane in range(mem.lanes)]
            for part, name in enumerate(uop.dst):
                self.registers[name] = bits[8 * part : 8 * part + 8]
        elif uop.op == "PSTS":
            bits = [bit for name in uop.src for bit in self.registers[name]]
            for byte in range(len(bits) // 8):
                packed = sum(bit << lane for lane, bit in enumerate(bits[8 * byte : 8 * byte + 8]))
                self._put(at + byte, bytes([packed]))
        else:
            for lane, value in enumerate(self.registers[uop.src[0]][: mem.lanes]):
                if self._on(uop, lane, indices):
                    self._put(at + 4 * lane, struct.pack("<i", value))

    def _word(self, at: int) -> int:
        return int(struct.unpack_from("<i", self.ub, at)[0])

    def _put(self, at: int, data: bytes) -> None:
        self.ub[at : at + len(data)] = data
        self.written.update(range(at, at + len(data)))

    @staticmethod
    def _lane(uop: VregUop, values: list[int]) -> int:
        if uop.op == "VADD":
            return _wrapped(values[0] + values[1])
        if uop.op == "VMAX":
            return max(values)
        if uop.op == "VADDS":
            return _wrapped(values[0] + int(uop.scalar or 0))
        if uop.op == "VDUP":
            return int(uop.scalar or 0)
        if uop.op == "VCMPS":
            return int(values[0] > (uop.scalar or 0))
        assert uop.op == "VSEL"
        return values[1] if values[0] else values[2]
