"""Installations that the attacks share: neighbours, an empty one, and a house."""

import contextlib
from dataclasses import dataclass

import pytest

from tests.support.installations.arms import ROWS, Arm, HeldSampler, make_installation
from tests.support.installations.harness import client, serve_in_thread


@dataclass
class House(Arm):
    """An installation whose noise can be held back."""

    sampler: HeldSampler


def _serve(stack, folder, rows, sampler_factory=None):
    installation = make_installation(folder, rows)
    key = installation.analyst()
    url = stack.enter_context(serve_in_thread(installation, sampler_factory))
    return installation, url, stack.enter_context(client(url, key))


@contextlib.contextmanager
def _three_arms(tmp_path_factory):
    with contextlib.ExitStack() as stack:
        yield {
            name: Arm(*_serve(stack, tmp_path_factory.mktemp(name), rows))
            for name, rows in ROWS.items()
        }


@pytest.fixture(scope="session")
def arms(tmp_path_factory):
    """D, D' without one patient, and an empty dataset: one secret, three servers."""
    with _three_arms(tmp_path_factory) as served:
        yield served


@pytest.fixture(scope="module")
def own_arms(tmp_path_factory):
    """Arms that no other file asks: what was paid is offered to everybody."""
    with _three_arms(tmp_path_factory) as served:
        yield served


@pytest.fixture(scope="session")
def neighbours(arms):
    """The two arms that differ in one patient."""
    return arms["with"], arms["without"]


@pytest.fixture(scope="session")
def house(tmp_path_factory):
    """One server for what does not compare arms."""
    sampler = HeldSampler()
    with contextlib.ExitStack() as stack:
        parts = _serve(
            stack, tmp_path_factory.mktemp("house"), ROWS["with"], lambda: sampler
        )
        yield House(*parts, sampler)
