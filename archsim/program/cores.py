"""A program as one core runs it: some instructions go to another pipe there."""

from dataclasses import replace

from archsim.program.ir import For, If, Instr, Program, Statement


def for_core(program: Program, isa: str) -> Program:
    """The program with every instruction on the pipe that it has on core generation `isa`.

    Events keep the pipes that they were declared with.
    """
    body = _placed(program.body, isa)
    return program if body is program.body else replace(program, body=body)


def _placed(statements: tuple[Statement, ...], isa: str) -> tuple[Statement, ...]:
    """The same object where nothing changes: most programs stay as they are."""
    placed = tuple(_on(statement, isa) for statement in statements)
    unchanged = all(new is old for new, old in zip(placed, statements, strict=True))
    return statements if unchanged else placed


def _on(statement: Statement, isa: str) -> Statement:
    if isinstance(statement, Instr):
        op = statement.op.on(isa)
        return statement if op is statement.op else replace(statement, op=op)
    if isinstance(statement, For):
        body = _placed(statement.body, isa)
        return statement if body is statement.body else replace(statement, body=body)
    if isinstance(statement, If):
        then, otherwise = _placed(statement.then, isa), _placed(statement.otherwise, isa)
        same = then is statement.then and otherwise is statement.otherwise
        return statement if same else replace(statement, then=then, otherwise=otherwise)
    return statement
