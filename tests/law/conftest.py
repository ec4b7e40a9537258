"""Says how many examples of each family were held against their definitions."""

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    families: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for key, value in report.user_properties:
                if key == "law":
                    family, examples = value.split()
                    families[family] += int(examples)
    for family, examples in sorted(families.items()):
        terminalreporter.write_line(f"law: {family} {examples}")
    if families:
        total = sum(families.values())
        terminalreporter.write_line(f"law: {len(families)} families {total} examples")
