"""Faults of everything but statements: place, rule and repair of each."""

from pathlib import Path

import pytest
from trace_texts import HEAD, Load, Told, with_program

from archsim.base.errors import InputError
from archsim.program.trace import load_program

PROGRAM = "program: [{barrier: ALL}]\n"

# a text, and all that is said of it
FAULTS: list[tuple[str, list[str]]] = [
    (
        "pto: 2\n" + PROGRAM,
        ["1:6: pto is 2; must be 1, the version of the trace format"],
    ),
    (
        "pto: '1'\n" + PROGRAM,
        ['1:6: pto is "1"; must be 1, the version of the trace format'],
    ),
    (
        "pto: 1\n",
        ["1:1: the key program is missing; it must hold a list of statements"],
    ),
    (
        "- 1\n",
        ["1:1: the trace is a list; must be a mapping of keys to values"],
    ),
    (
        "program: {a: 1}\n",
        ["1:10: program is a mapping; must be a list of statements"],
    ),
    (
        ("porgram: []\nprogram: []\n"),
        [
            (
                '1:1: unknown key "porgram" in the trace; known: pto, arch, archs, sync, alloc,'
                ' scalars, tensors, tiles, events, program, expect | did you mean "program"?'
            )
        ],
    ),
    (
        "sync: atuo\n" + PROGRAM,
        ['1:7: sync is "atuo"; must be one of explicit, auto | did you mean "auto"?'],
    ),
    (
        "alloc: yes\n" + PROGRAM,
        ['1:8: alloc is "yes"; must be one of explicit, auto'],
    ),
    (
        "archs: a5\n" + PROGRAM,
        ['1:8: archs is "a5"; must be a list of cores'],
    ),
    (
        "arch: 5\n" + PROGRAM,
        ["1:7: arch is 5; must be a text"],
    ),
    (
        "scalars: 3\n" + PROGRAM,
        ["1:10: scalars is 3; must be a mapping of keys to values"],
    ),
    (
        "scalars: {N: x}\n" + PROGRAM,
        ['1:14: scalar N is "x"; must be a number'],
    ),
    (
        "scalars: {1a: 2}\n" + PROGRAM,
        [
            (
                '1:11: scalar name "1a" is not a name; it must be letters, digits and _, not'
                " starting with a digit"
            )
        ],
    ),
    (
        "scalars: {inf: 3}\n" + PROGRAM,
        [
            (
                '1:11: scalar name "inf" is taken; inf, nan, min, max, dynamic have a meaning of'
                " their own"
            )
        ],
    ),
    (
        "scalars: {M: true}\n" + PROGRAM,
        ["1:14: scalar M is true; must be a number"],
    ),
    (
        "scalars: {K: [1]}\n" + PROGRAM,
        ["1:14: scalar K is a list; must be a number"],
    ),
    (
        ("tensors:\n  a: 3\n") + PROGRAM,
        ["2:6: tensor a is 3; must be a mapping of keys to values"],
    ),
    (
        ("tensors:\n  a: {dtype: f33, shape: [2]}\n") + PROGRAM,
        [
            (
                '2:14: dtype of tensor a is "f33"; must be one of f32, f16, bf16, i8, i16, i32,'
                " i64, u8, u16, u32, u64, f8e4m3, f8e5m2, hif8, f4e2m1, f4e1m2 | did you mean"
                ' "f32"?'
            )
        ],
    ),
    (
        ("tensors:\n  a: {shape: [2]}\n") + PROGRAM,
        ["2:3: tensor a has no dtype; it must name one"],
    ),
    (
        ("tensors:\n  a: {dtype: f32}\n") + PROGRAM,
        ["2:3: tensor a has no shape; it must list 1 to 5 extents"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: []}\n") + PROGRAM,
        ["2:26: shape of tensor a has 0 extents; must be a list of 1 to 5 extents"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [1, 1, 1, 1, 1, 1]}\n") + PROGRAM,
        ["2:26: shape of tensor a has 6 extents; must be a list of 1 to 5 extents"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [0, -1, 2.5]}\n") + PROGRAM,
        [
            "2:27: extent of tensor a is 0; must be an integer of at least 1",
            "2:30: extent of tensor a is -1; must be an integer of at least 1",
            "2:34: extent of tensor a is 2.5; must be an integer of at least 1",
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: 4}\n") + PROGRAM,
        ["2:26: shape of tensor a is 4; must be a list of 1 to 5 extents"],
    ),
    (
        ("tensors:\n  a: {dtype: f4e2m1, shape: [4]}\n") + PROGRAM,
        [
            "2:14: tensor a is f4e2m1; numpy has no such type to hold it"
            " | hold its codes in a tensor of u8, two in a byte"
        ],
    ),
    (
        ("tensors:\n  a: {dtype: hif8, shape: [4]}\n") + PROGRAM,
        [
            "2:14: tensor a is hif8; numpy has no such type to hold it"
            " | hold its codes in a tensor of u8"
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], stirdes: [1]}\n") + PROGRAM,
        [
            (
                '2:31: unknown key "stirdes" in tensor a; known: dtype, shape, strides, layout,'
                ' init | did you mean "strides"?'
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], strides: [1, 2]}\n") + PROGRAM,
        ["2:40: strides of tensor a has 2 entries; must have 1, one a dimension"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], strides: [-1]}\n") + PROGRAM,
        ["2:41: stride of tensor a is -1; must be an integer of at least 0"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], layout: mn}\n") + PROGRAM,
        ['2:39: layout of tensor a is "mn"; must be one of nd, dn, nz'],
    ),
    (
        ("tensors:\n  a: {dtype: 3, shape: [4]}\n") + PROGRAM,
        [
            (
                "2:14: dtype of tensor a is 3; must be one of f32, f16, bf16, i8, i16, i32, i64,"
                " u8, u16, u32, u64, f8e4m3, f8e5m2, hif8, f4e2m1, f4e1m2"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [$Q]}\n") + PROGRAM,
        ['2:27: unknown name "Q"; no scalar or loop variable is known'],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [2 - 3]}\n") + PROGRAM,
        ['2:27: extent of tensor a is "2 - 3" = -1; must be an integer of at least 1'],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: 3}\n") + PROGRAM,
        [
            (
                "2:37: init of tensor a is 3; must be a mapping with one of const, linspace,"
                " arange, normal, uniform, randint, file"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {nrmal: {seed: 1}}}\n") + PROGRAM,
        [
            (
                '2:38: unknown key "nrmal" in init of tensor a; known: const, linspace, arange,'
                ' normal, uniform, randint, file | did you mean "normal"?'
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {normal: {}}}\n") + PROGRAM,
        ["2:46: normal of init of tensor a has no seed; it must state one"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {normal: {seed: -1}}}\n") + PROGRAM,
        ["2:53: seed of normal of init of tensor a is -1; must be an integer of at least 0"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {normal: {seed: 1, sdt: 2}}}\n") + PROGRAM,
        [
            (
                '2:56: unknown key "sdt" in normal of init of tensor a; known: seed, mean, std |'
                ' did you mean "std"?'
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {normal: {seed: 1, std: -2}}}\n") + PROGRAM,
        ["2:61: std of normal of init of tensor a is -2; must be 0 or more"],
    ),
    (
        ("tensors:\n  a: {dtype: i8, shape: [4], init: {const: 300}}\n") + PROGRAM,
        ["2:44: const of init of tensor a is 300; must be an integer from -128 to 127 (i8)"],
    ),
    (
        ("tensors:\n  a: {dtype: i8, shape: [4], init: {const: 1.5}}\n") + PROGRAM,
        ["2:44: const of init of tensor a is 1.5; must be an integer from -128 to 127 (i8)"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {const: abc}}\n") + PROGRAM,
        ['2:45: const of init of tensor a is "abc"; must be a number'],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {linspace: [1]}}\n") + PROGRAM,
        [
            (
                "2:48: linspace of init of tensor a is a list; must be a list of the first and the"
                " last value"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {uniform: {seed: 1, low: 2, high: 1}}}\n")
        + PROGRAM,
        ["2:47: low of uniform of init of tensor a is 2; must be at most high, 1"],
    ),
    (
        ("tensors:\n  a: {dtype: u8, shape: [4], init: {randint: {seed: 1, low: 0, high: 257}}}\n")
        + PROGRAM,
        ["2:46: randint of init of tensor a reaches from 0 to 256; u8 holds 0 to 255"],
    ),
    (
        ("tensors:\n  a: {dtype: u8, shape: [4], init: {randint: {seed: 1, low: 3, high: 3}}}\n")
        + PROGRAM,
        ["2:46: low of randint of init of tensor a is 3; must be less than high, 3"],
    ),
    (
        ("tensors:\n  a: {dtype: u8, shape: [4], init: {randint: {seed: 1}}}\n") + PROGRAM,
        ["2:46: randint of init of tensor a has no high; it must state one"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {file: nope.npy}}\n") + PROGRAM,
        ["2:44: file of init of tensor a is nope.npy; no such file beside the program"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {const: 1, normal: {seed: 1}}}\n")
        + PROGRAM,
        [
            (
                "2:37: init of tensor a has 2 kinds; must be a mapping with one of const, linspace,"
                " arange, normal, uniform, randint, file"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {}}\n") + PROGRAM,
        [
            (
                "2:37: init of tensor a has no kinds; must be a mapping with one of const,"
                " linspace, arange, normal, uniform, randint, file"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {uniform: {seed: 1, high: inf}}}\n")
        + PROGRAM,
        ['2:63: high of uniform of init of tensor a is "inf"; must be finite'],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {const: 99999999999999999999999}}\n")
        + PROGRAM,
        [
            (
                "2:45: const of init of tensor a is 99999999999999999999999; must be a number of at"
                " most 64 bits"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {file: nope.npy, kye: 3}}\n") + PROGRAM,
        [
            "2:44: file of init of tensor a is nope.npy; no such file beside the program",
            '2:54: unknown key "kye" in init of tensor a; known: file, key | did you mean "key"?',
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4], init: {arange: 3}}\n") + PROGRAM,
        ["2:46: arange of init of tensor a is 3; must be a mapping of keys to values"],
    ),
    (
        ("tiles:\n  t: 3\n") + PROGRAM,
        ["2:6: tile t is 3; must be a mapping of keys to values"],
    ),
    (
        ("tiles:\n  t: {dtype: f32, shape: [16, 64], addr: 0}\n") + PROGRAM,
        ["2:3: tile t has no loc; it must be one of vec, mat, left, right, acc, bias, scaling"],
    ),
    (
        ("tiles:\n  t: {loc: vce, dtype: f32, shape: [16, 64], addr: 0}\n") + PROGRAM,
        [
            (
                '2:12: loc of tile t is "vce"; must be one of vec, mat, left, right, acc, bias,'
                ' scaling | did you mean "vec"?'
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, addr: 0}\n") + PROGRAM,
        ["2:3: tile t has no shape; it must state shape: [rows, cols], or rows and cols"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16], addr: 0}\n") + PROGRAM,
        ["2:36: shape of tile t has 1 entry; must be a list of rows and columns"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, rows: 16, addr: 0}\n") + PROGRAM,
        ["2:3: tile t has no cols; it must state both"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], rows: 16, addr: 0}\n") + PROGRAM,
        ["2:36: tile t has both shape and rows/cols; must have one of them"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], valid: [17, 0], addr: 0}\n")
        + PROGRAM,
        [
            "2:54: valid rows of tile t is 17; must be at most its 16 rows",
            "2:58: valid columns of tile t is 0; must be an integer of at least 1",
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], valid: [min(16, N), 3], addr: 0}\n")
        + PROGRAM,
        [
            (
                "2:53: valid of tile t has 3 entries; must be a list of rows and columns | in a"
                " list, put an expression that holds commas in quotes"
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], valid: [-1, q], addr: 0}\n")
        + PROGRAM,
        [
            "2:54: valid rows of tile t is -1; must be an integer of at least 1",
            '2:58: unknown name "q"; no scalar or loop variable is known',
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 5], addr: 0}\n") + PROGRAM,
        [
            (
                "2:36: a row of tile t is 20 bytes (5 x f32); must be a multiple of 32 bytes |"
                " write shape: [16, 8], valid: [16, 5]"
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [5, 16], blayout: col_major, addr: 0}\n")
        + PROGRAM,
        [
            (
                "2:36: a column of tile t is 20 bytes (5 x f32); must be a multiple of 32 bytes |"
                " write shape: [8, 16], valid: [5, 16]"
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], stride: 60, addr: 0}\n") + PROGRAM,
        ["2:54: stride of tile t is 60; must be at least its 64 columns"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], stride: 66, addr: 0}\n") + PROGRAM,
        [
            (
                "2:54: a row of tile t is 264 bytes (66 x f32); must be a multiple of 32 bytes |"
                " write stride: 72"
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], addr: -4}\n") + PROGRAM,
        ["2:52: addr of tile t is -4; must be an integer of at least 0"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], addr: 0, ring: 0}\n") + PROGRAM,
        ["2:61: ring of tile t is 0; must be an integer of at least 1"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], addr: 0, rign: 2}\n") + PROGRAM,
        [
            (
                '2:55: unknown key "rign" in tile t; known: loc, dtype, shape, rows, cols, valid,'
                " v_row, v_col, addr, ring, blayout, slayout, fractal, pad, stride | did you mean"
                ' "ring"?'
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64]}\n") + PROGRAM,
        [
            (
                "2:3: tile t has no addr; with sync: explicit each tile must have one | write"
                " alloc: auto at the top to have tiles placed"
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], addr: here, pad: 7}\n") + PROGRAM,
        [
            '2:52: addr of tile t is "here"; must be an integer of at least 0',
            "2:63: pad of tile t is 7; must be one of null, zero, max, min",
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [0, 64], addr: 0, blayout: rowmajor}\n")
        + PROGRAM,
        [
            "2:37: rows of tile t is 0; must be an integer of at least 1",
            (
                '2:63: blayout of tile t is "rowmajor"; must be one of row_major, col_major | did'
                ' you mean "row_major"?'
            ),
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f4e2m1, shape: [16, 32], addr: 0}\n") + PROGRAM,
        [
            "2:39: a row of tile t is 16 bytes (32 x f4e2m1); must be a multiple of 32 bytes"
            " | write shape: [16, 64], valid: [16, 32]"
        ],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [16, 64], addr: 0, v_row: 17}\n") + PROGRAM,
        ["2:62: valid rows of tile t is 17; must be at most its 16 rows"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: flaot32, shape: [16, 64], addr: 0, v_row: '?'}\n")
        + PROGRAM,
        [
            (
                '2:24: dtype of tile t is "flaot32"; must be one of f32, f16, bf16, i8, i16, i32,'
                " i64, u8, u16, u32, u64, f8e4m3, f8e5m2, hif8, f4e2m1, f4e1m2 | did you mean"
                ' "float32"?'
            )
        ],
    ),
    (
        ("tiles:\n  t: {loc: mat, dtype: f32, shape: [5, 5], slayout: colmajor}\n") + PROGRAM,
        [
            (
                '2:53: slayout of tile t is "colmajor"; must be one of none_box, row_major,'
                ' col_major | did you mean "col_major"?'
            )
        ],
    ),
    (
        (
            "tiles:\n"
            "  t: {loc: vec, dtype: f32, shape: [8, 8], addr: 0, blayout: col_major, stride: "
            "16}\n"
        )
        + PROGRAM,
        ["2:81: tile t has a stride; only row_major tiles take one"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [8, 8], addr: 0, fractal: 0}\n") + PROGRAM,
        ["2:62: fractal of tile t is 0; must be an integer of at least 1"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [8, 8], addr: 0, valid: [8, 8], v_col: 3}\n")
        + PROGRAM,
        ["2:60: tile t has both valid and v_row/v_col; must have one of them"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [8, 8], addr: 0, valid: 8}\n") + PROGRAM,
        ["2:60: valid of tile t has no list; must be a list of rows and columns"],
    ),
    (
        ("tiles:\n  t: {loc: vec, dtype: f32, shape: [8, 8], addr: 0, valid: [8, 2.5]}\n")
        + PROGRAM,
        ["2:64: valid columns of tile t is 2.5; must be an integer of at least 1"],
    ),
    (
        ("events:\n  e: {from: tlaod, to: vec}\n") + PROGRAM,
        [
            (
                '2:13: from of event e is "tlaod"; must be a pipe (S, MTE2, MTE1, V, M, FIX, MTE3)'
                " or a class (tload, tstore, vec, tmov_m2l, cube, fix, scalar) | did you mean"
                ' "tload"?'
            )
        ],
    ),
    (
        ("events:\n  e: {to: vec}\n") + PROGRAM,
        [
            (
                "2:3: event e has no from; it must name a pipe (S, MTE2, MTE1, V, M, FIX, MTE3) or"
                " a class (tload, tstore, vec, tmov_m2l, cube, fix, scalar)"
            )
        ],
    ),
    (
        ("events:\n  e: {from: V, to: V, ring: 0}\n") + PROGRAM,
        ["2:29: ring of event e is 0; must be an integer of at least 1"],
    ),
    (
        ("events:\n  e: 3\n") + PROGRAM,
        ["2:6: event e is 3; must be a mapping of keys to values"],
    ),
    (
        ("events:\n  e: {from: V, to: MTE2, rin: 2}\n") + PROGRAM,
        ['2:26: unknown key "rin" in event e; known: from, to, ring | did you mean "ring"?'],
    ),
    (
        (
            "scalars: {a: 1}\n"
            "tensors: {a: {dtype: f32, shape: [4]}}\n"
            "tiles:\n"
            "  a: {loc: vec, dtype: f32, shape: [16, 64], addr: 0}\n"
            "events: {a: {from: V, to: MTE2}}\n"
        )
        + PROGRAM,
        [
            (
                '2:11: "a" is declared twice, first under scalars; tensors, tiles, events and'
                " scalars share their names"
            ),
            (
                '4:3: "a" is declared twice, first under scalars; tensors, tiles, events and'
                " scalars share their names"
            ),
            (
                '5:10: "a" is declared twice, first under scalars; tensors, tiles, events and'
                " scalars share their names"
            ),
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n") + PROGRAM + ("expect:\n  b: {numpy: a}\n"),
        ['5:3: unknown tensor "b"; declared: a'],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n") + PROGRAM + ("expect:\n  a: {nump: a}\n"),
        [
            "5:3: expect of a must have one of numpy and file",
            (
                '5:7: unknown key "nump" in expect of a; known: numpy, file, key, atol, rtol, exact'
                ' | did you mean "numpy"?'
            ),
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n") + PROGRAM + ("expect:\n  a: 3\n"),
        ["5:6: expect of a is 3; must be a mapping of keys to values"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n") + PROGRAM + ("expect:\n  a: {}\n"),
        ["5:3: expect of a must have one of numpy and file"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: a, file: x}\n"),
        ["5:3: expect of a must have one of numpy and file"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'a +'}\n"),
        ["5:15: the expression cannot be read: invalid syntax"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'a + zz'}\n"),
        ['5:19: unknown name "zz"; known here: a'],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'max(a, 0)'}\n"),
        ["5:15: max takes 1 argument, 2 given | write maximum(a, b)"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'a[0]'}\n"),
        [
            (
                "5:15: not part of the language of expect; it knows names, numbers, + - * / // %"
                " **, comparisons, maximum, minimum, abs, exp, log, sqrt, rint, floor, ceil, trunc,"
                " sum, max, min, mean, clip, where, reshape, astype, T"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'exp2(a)'}\n"),
        [
            (
                '5:15: unknown function "exp2"; known: maximum, minimum, abs, exp, log, sqrt, rint,'
                " floor, ceil, trunc, sum, max, min, mean, clip, where, reshape, astype, T | did"
                ' you mean "exp"?'
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'a.astype(f33)'}\n"),
        [
            (
                "5:24: astype must name one of f32, f16, bf16, i8, i16, i32, i64, u8, u16, u32,"
                ' u64, f8e4m3, f8e5m2, hif8, f4e2m1, f4e1m2 | did you mean "f32"?'
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'sum(a, axes=0)'}\n"),
        ['5:27: unknown keyword "axes" of sum; known: axis, keepdims | did you mean "axis"?'],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'a < a < a'}\n"),
        ["5:15: comparisons do not chain; use parentheses and *"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: a, atol: -1}\n"),
        ["5:23: atol of expect of a is -1; must be 0 or more"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: a, exact: 3, rtol: x}\n"),
        [
            "5:24: exact of expect of a is 3; must be true or false",
            '5:33: rtol of expect of a is "x"; must be a number',
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {file: zz.npy}\n"),
        ["5:13: file of expect of a is zz.npy; no such file beside the program"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: a, key: x}\n"),
        ["5:22: expect of a has a key; only a file takes one"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: '__import__(\"os\")'}\n"),
        [
            (
                '5:15: unknown function "__import__"; known: maximum, minimum, abs, exp, log, sqrt,'
                " rint, floor, ceil, trunc, sum, max, min, mean, clip, where, reshape, astype, T"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'a.foo'}\n"),
        [
            (
                "5:15: not part of the language of expect; it knows names, numbers, + - * / // %"
                " **, comparisons, maximum, minimum, abs, exp, log, sqrt, rint, floor, ceil, trunc,"
                " sum, max, min, mean, clip, where, reshape, astype, T"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'lambda: 3'}\n"),
        [
            (
                "5:15: not part of the language of expect; it knows names, numbers, + - * / // %"
                " **, comparisons, maximum, minimum, abs, exp, log, sqrt, rint, floor, ceil, trunc,"
                " sum, max, min, mean, clip, where, reshape, astype, T"
            )
        ],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'clip(a)'}\n"),
        ["5:15: clip takes 3 arguments, 1 given"],
    ),
    (
        ("tensors:\n  a: {dtype: f32, shape: [4]}\n")
        + PROGRAM
        + ("expect:\n  a: {numpy: 'sum(a, axis=a, keepdims=1)'}\n"),
        ["5:27: axis must be an integer", "5:39: keepdims must be True or False"],
    ),
]


@pytest.mark.parametrize(("text", "faults"), FAULTS, ids=[fault[0] for fault in FAULTS])
def test_fault(told: Told, text: str, faults: list[str]) -> None:
    assert told(text) == faults


def test_all_faults_come_at_once_in_file_order(told: Told) -> None:
    text = HEAD.replace("dtype: u8", "dtype: u9").replace("to: vec}", "to: vac}")
    assert [fault.split(";")[0] for fault in told(with_program("- tadd ta <- tq, tb", text))] == [
        '11:25: dtype of tile tm is "u9"',
        '14:28: to of event ready is "vac"',
        '17:16: unknown tile or tensor "tq"',
    ]


def test_use_of_a_faulty_declaration_is_not_a_second_fault(told: Told) -> None:
    text = HEAD.replace("dtype: u8", "dtype: u9").replace("N: 8", "N: eight")
    statements = """
        - tcmps tm <- ta, 0.5
        - {for: {var: i, range: $N}, do: [tload ta <- x]}
        - tadds ta <- ta, $N
    """
    assert [fault.split(" is ")[0] for fault in told(with_program(statements, text))] == [
        "3:14: scalar N",
        "11:25: dtype of tile tm",
    ]


def test_message_shows_the_line_and_points_at_the_fault(load: Load) -> None:
    with pytest.raises(InputError) as caught:
        load(with_program("- tload ta <- x[N/2, 0]"))
    assert str(caught.value) == (
        't.yaml:17:20: unexpected "/"; an operator must stand here\n'
        "   17 |   - tload ta <- x[N/2, 0]\n"
        "      |                    ^\n"
        "  write // for integer division"
    )


def test_command_line_overrides_must_fit(told: Told) -> None:
    faults = told(
        with_program("- {barrier: ALL}"),
        arguments={"alhpa": "1", "N": "abc"},
        inputs={"q": "x.npy", "y": "nope.npy"},
    )
    assert faults == [
        '--arg alhpa: the program has no such scalar; it has N, alpha | did you mean "alpha"?',
        '--arg N is "abc"; must be a number',
        "--input q: the program has no such tensor; it has x, y, line",
        "--input y: nope.npy: no such file",
    ]


def test_suffix_tells_a_trace(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a trace must end in \.yaml, \.yml, \.json"):
        load_program(str(tmp_path / "t.txt"))
