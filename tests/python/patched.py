# SPDX-FileCopyrightText: 2026 The Stepwell authors
# SPDX-License-Identifier: BSD-3-Clause
"""A pytest plugin that runs other packages' tests with Stepwell as their solve(), at every order.

  PYTHONPATH=tests/python python -m pytest -p patched --pyargs numpy.linalg scipy.linalg

At the end it prints how many calls Stepwell handled; none is an error.
"""
import pytest

import stepwell

calls = stepwell.patch(minimum=1, condition=True)


def pytest_configure(config):
    calls.install()


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(str(calls))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    if calls.taken == 0 and session.testscollected and not session.config.option.collectonly:
        session.exitstatus = pytest.ExitCode.USAGE_ERROR
