"""Arms shared by the quick audits, and what they measured at the end of the run."""

import functools

import pytest

from tests.audit.instruments.arms import make_arms
from tests.audit.subjects import suites
from tests.audit.subjects.cohorts import FULL, HEAVY
from tests.support.noise.samplers import ZeroSampler

MEASURED = []
TABLES = (suites.ONE, suites.STACKED, suites.SPREAD)


@pytest.fixture(scope="session")
def report():
    """Return a function that adds a line to the run's summary."""
    return MEASURED.append


@pytest.fixture(scope="session")
def arms(tmp_path_factory):
    return make_arms(tmp_path_factory.mktemp("audit"), TABLES)


@pytest.fixture(scope="session")
def cohorts(tmp_path_factory):
    return make_arms(tmp_path_factory.mktemp("cohorts"), [FULL, HEAVY])


@pytest.fixture(scope="session")
def exact(arms):
    """Return a suite's exact answers, present arm first: asked without noise."""
    with arms.served(ZeroSampler) as urls:
        found = {
            suite.name: [bodies[0] for bodies in arms.ask(urls, suite.question, 1)]
            for suite in (*suites.SINGLE_SUITES, *suites.VECTOR_SUITES)
        }
    return functools.partial(dict.__getitem__, found)


def pytest_terminal_summary(terminalreporter):
    if MEASURED:
        terminalreporter.section("audits")
        for line in MEASURED:
            terminalreporter.write_line(line)
