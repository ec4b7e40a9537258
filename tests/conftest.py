"""What holds for the whole suite."""

import os

import pytest

pytest.register_assert_rewrite("cli_runs")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("CI") and terminalreporter.stats.get("skipped"):
        terminalreporter.write_line("a skipped test is a failure here", red=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """On CI nothing may be skipped: a machine that lacks a part hides a fault."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
