"""The Python client buys the probes that plans name, and then the accuracy."""

import contextlib
from decimal import Decimal

import pytest

from curator_client import Curator, CuratorRefusalError
from tests.support.installations.harness import Installation, serve_in_thread

pytestmark = pytest.mark.thorough

ALL = "SELECT COUNT(*) AS n FROM visits"
WISH = {"relative": "20%", "at_least": 2}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    installation = Installation(tmp_path_factory.mktemp("probes")).create()
    installation.load()
    with serve_in_thread(installation) as url:
        yield installation, url


def test_an_accuracy_that_small_numbers_could_not_have_is_bought_after_probes(served):
    installation, url = served
    with Curator(url, key=installation.analyst("pia", "probes")) as curator:
        with pytest.raises(CuratorRefusalError, match="first"):
            curator.query(ALL, accuracy=WISH)
        answer = curator.query(ALL, accuracy=WISH, probes=True)
        ((n,),) = answer.rows
        spent = float(curator.budget().document["projects"][0]["spent"])
        asked = len(list(curator.history()))
    assert answer.half_width("n") <= 0.2 * n + 1
    assert asked >= 2
    assert spent < 3  # were numbers as small as two it would cost fifteen


def test_nothing_is_bought_that_cannot_become_cheap_enough(served):
    """By chance: noise of 13 times its scale or more, once in 1.6 million runs."""
    installation, url = served
    none = f"{ALL} WHERE age > 119"
    with Curator(url, key=installation.analyst("nil", "nothing")) as curator:
        curator.query(none, epsilon="0.8")
        wish = {"relative": "20%", "at_least": 20, "at_most": "0.08"}
        with pytest.raises(CuratorRefusalError):
            curator.query(none, accuracy=wish, probes=True)
        spent = curator.budget().document["projects"][0]["spent"]
    assert spent == "0.8"


def test_probes_and_the_accuracy_cost_at_most_what_is_allowed(served):
    installation, url = served
    units = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
    wish = {"relative": "20%", "at_least": 10, "at_most": "0.2"}
    for n in range(4):
        key = installation.analyst(f"mia{n}", f"most_{n}")
        with Curator(url, key=key) as curator:
            with contextlib.suppress(CuratorRefusalError):
                curator.query(
                    f"{units} WHERE age >= {20 + n}", accuracy=wish, probes=True
                )
            spent = Decimal(curator.budget().document["projects"][0]["spent"])
        assert spent <= Decimal("0.2")
