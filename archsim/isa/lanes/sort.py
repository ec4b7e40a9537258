"""Records of a value and its index, eight bytes as two words: sorted in groups, merged.

The first word is an f32, or a half in its lower half; the second the index. Order is falling; +0
equals -0; NaN comes last (the device does not say where). Equal values: smaller index first in a
group, earlier list first in a merge.
"""

from typing import Any

import numpy as np

from archsim.isa.lanes.state import How, LaneOp, Lanes

_GROUP = 32
_BELOW_ALL = -1e300  # stands for -inf, which stands for NaN


def sorted_group(how: How, values: Lanes, indices: Lanes) -> Lanes:
    """Records of each group of 32 values and their indices, sorted; shape (..., 64) of words.

    Values that a predicate turns off come last, behind NaN. Among NaN, lanes keep their order.
    """
    values, indices = np.broadcast_arrays(values, np.ascontiguousarray(indices).view(np.uint32))
    keys = _keys(values)
    position = np.broadcast_to(np.arange(values.shape[-1]), values.shape)
    tie = np.where(keys == -np.inf, position, indices)
    off = (
        np.zeros(values.shape, np.bool_) if how.on is None else np.broadcast_to(~how.on, keys.shape)
    )
    order = np.lexsort((tie, -keys, off), axis=-1)
    words = (_first_word(values), indices)
    records = np.stack([np.take_along_axis(word, order, axis=-1) for word in words], axis=-1)
    return records.reshape(*values.shape[:-1], 2 * values.shape[-1])


def merged(how: How, *lists: Lanes) -> Lanes:
    """Sorted lists of records as one list; of a single one, the four blocks that make it up."""
    if len(lists) == 1:
        blocks = lists[0].reshape(*lists[0].shape[:-1], 4, -1)
        lists = tuple(blocks[..., k, :] for k in range(4))
    order = _merge_order(how, lists)[..., np.newaxis]
    records = np.concatenate([_pairs(words) for words in lists], axis=-2)
    out = np.take_along_axis(records, order, axis=-2)
    return out.reshape(*out.shape[:-2], -1)


def taken(how: How, *lists: Lanes) -> Lanes:
    """How many records of each of four lists a merge takes.

    By the word `exhausted` it stops when one list is used up; else it takes all.
    """
    lengths = [words.shape[-1] // 2 for words in lists]
    order = _merge_order(how, lists)
    owner = np.repeat(np.arange(len(lists)), lengths)[order]
    counts = np.stack([np.cumsum(owner == k, axis=-1) for k in range(4)], axis=-1)
    last = counts.shape[-2] - 1
    used_up = (counts[..., : len(lists)] == lengths).any(axis=-1)
    at = np.argmax(used_up, axis=-1) if "exhausted" in how.words else np.array(last)
    at = np.broadcast_to(at, counts.shape[:-2])[..., np.newaxis, np.newaxis]
    picked = np.take_along_axis(counts, at, axis=-2)
    return np.asarray(picked[..., 0, :], np.uint16)


def _merge_order(how: How, lists: Any) -> Lanes:
    """Which record comes when, if the greatest head of all lists is taken each time.

    A record cannot come before those in front of it: in a list that is not sorted it counts as
    the least of them.
    """
    half = "f16" in how.words
    keys = [np.minimum.accumulate(_keys(_values(words, half)), axis=-1) for words in lists]
    order: Lanes = np.argsort(-np.concatenate(keys, axis=-1), axis=-1, kind="stable")
    return order


def _pairs(words: Lanes) -> Lanes:
    return words.reshape(*words.shape[:-1], -1, 2)


def _values(words: Lanes, half: bool) -> Lanes:
    first = np.ascontiguousarray(words[..., 0::2]).view(np.uint32)
    return first.astype(np.uint16).view(np.float16) if half else first.view(np.float32)


def _keys(values: Lanes) -> Lanes:
    """Numbers in the order of the values: -inf for NaN."""
    wide = values.astype(np.float64)
    wide = np.where(wide == -np.inf, _BELOW_ALL, wide)
    return np.where(np.isnan(wide), -np.inf, wide)


def _first_word(values: Lanes) -> Lanes:
    bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")
    return bits.astype(np.uint32)


SIMD: dict[str, LaneOp] = {
    "scalar_status": LaneOp(taken, mixes=True),
    "vbitsort": LaneOp(sorted_group, mixes=True),
    "vmrgsort4": LaneOp(merged, mixes=True),
}
VREG: dict[str, LaneOp] = {
    "SPR_STATUS": LaneOp(taken, mixes=True),
    "VBITSORT": LaneOp(sorted_group, mixes=True),
    "VMRGSORT4": LaneOp(merged, mixes=True),
}
