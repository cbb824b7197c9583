import json
from dataclasses import dataclass
from functools import cache

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from server.main import cli
from tests.support.installations.harness import Installation


@pytest.fixture(scope="session", autouse=True)
def _commands_made_once():
    """Make the tree of commands once: it takes 60 ms, and hundreds are run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


@dataclass
class Commands:
    """Runs commands in this process, against one installation."""

    installation: Installation

    def run(self, *arguments, code=0):
        done = CliRunner().invoke(
            cli, [str(a) for a in arguments], env=self.installation.environment
        )
        assert done.exit_code == code, f"{done.stdout}{done.stderr}{done.exception!r}"
        return done

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json").stdout)

    def said(self, *arguments, code=1):
        """Return the sentence of a refusal; it goes to standard error alone."""
        done = self.run(*arguments, code=code)
        assert done.stdout == ""
        return " ".join(done.stderr.split())

    def kinds(self):
        return [entry["kind"] for entry in self.json("ledger", "export")]


@pytest.fixture
def installation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # no curator.env of ours is read
    return Installation(tmp_path)


@pytest.fixture
def bare(installation):
    """Commands where nothing was initialised."""
    return Commands(installation)


@pytest.fixture
def curator(installation):
    """Commands on an empty single-custodian installation."""
    installation.create()
    return Commands(installation)


@pytest.fixture
def loaded(curator):
    """Commands on an installation with a dataset, an analyst and a project."""
    curator.installation.load()
    curator.installation.analyst(allotment="3")
    return curator
