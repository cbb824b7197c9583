"""Which source of vectors of noise an installation has, and who may change it."""

import contextlib

import pytest

from mechanisms.samplers.vectors import OsVectorSampler
from server.bootstrap import make_services
from server.configuration.settings import Settings, read_settings
from server.installing import initialise
from tests.support.noise.samplers import ZeroVectorSampler


@pytest.fixture
def settings(tmp_path):
    found = read_settings(data=tmp_path / "data", anchor=tmp_path / "held" / "anchor")
    initialise(found, single_custodian=True)
    return found


@contextlib.contextmanager
def services(settings, **more):
    made = make_services(settings, **more)
    try:
        yield made
    finally:
        made.engine.close()
        made.databases.close()


def test_an_installation_draws_from_the_operating_system(settings):
    with services(settings) as made:
        assert type(made.vector_sampler) is OsVectorSampler


def test_only_a_factory_given_in_code_changes_the_source(settings):
    with services(settings, vector_sampler_factory=ZeroVectorSampler) as made:
        assert type(made.vector_sampler) is ZeroVectorSampler
    assert not any("sampler" in name for name in Settings.model_fields)
