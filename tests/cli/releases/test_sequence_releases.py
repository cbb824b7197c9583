"""``curator release`` about sequences, and several specs that share one epsilon."""

import json

import pytest
import yaml

from privacy.losses import Loss
from server.use_cases.publishing.shares import SharesRefusedError, divided, read_shares
from tests.support.installations.harness import ImportingInstallation
from tests.support.installations.publishing import paths, spec

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    made = ImportingInstallation(tmp_path_factory.mktemp("cli")).create()
    made.load()
    return made


def written(made, told):
    path = made.folder / f"{told['name']}.yaml"
    path.write_text(yaml.safe_dump({"release": told}, sort_keys=False))
    return str(path)


def spent(made):
    done = made.curator("release", "list", "--json")
    return {row["name"]: row["epsilon"] for row in json.loads(done.stdout)["items"]}


def test_a_mistake_about_sequences_is_shown_with_line_and_column(made):
    told = paths(split={"column": "ward"})
    refused = made.curator("release", "publish", written(made, told))
    assert refused.returncode == 1
    assert "paths.yaml:12:3: split: ward may vary within one patient" in refused.stderr
    both = paths(periods={"every": 7, "start": 0, "take": "count", "bins": [2]})
    refused = made.curator("release", "plan", written(made, both))
    assert "give one of symbol and periods" in refused.stderr


def test_two_releases_share_one_epsilon_in_one_command(made):
    cube = written(made, spec("wards_of_all", epsilon="9"))
    tree = written(made, paths("ways_of_all", epsilon="9"))
    words = ("publish", cube, tree, "--share", "1:1", "--epsilon", "0.000000005")
    refused = made.curator("release", *words)
    assert refused.returncode == 1, "too little for the tree's parts: nothing charged"
    assert "nothing" in refused.stderr or "small" in refused.stderr
    assert "wards_of_all" not in spent(made)
    words = ("publish", cube, tree, "--share", "1:1", "--epsilon", "1.000000001")
    done = made.curator("release", *words, "--json")
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)["releases"]
    assert (first["epsilon"], second["epsilon"]) == ("0.500000001", "0.5")
    assert (first["cells"], second["symbols"]) == (26, 4)
    shown = made.curator("release", "show", "ways_of_all", "--json")
    assert json.loads(shown.stdout)["manifest"]["kind"] == "sequences"
    verified = made.curator("release", "verify", "ways_of_all")
    assert verified.returncode == 0, verified.stdout


def test_without_an_epsilon_the_specs_own_are_added_and_shared(made):
    cube = written(made, spec("a_cube", epsilon="0.3"))
    tree = written(made, paths("a_tree", epsilon="0.5"))
    words = ("publish", cube, tree, "--share", "3:1", "--json")
    done = made.curator("release", *words)
    assert done.returncode == 0, done.stderr
    found = [one["epsilon"] for one in json.loads(done.stdout)["releases"]]
    assert found == ["0.6", "0.2"]


def test_a_plan_of_several_shows_each_part_and_the_sum(made):
    before = spent(made)
    cube = written(made, spec("p_cube", epsilon="0.3"))
    tree = written(made, paths("p_tree", epsilon="0.5"))
    words = ("plan", cube, tree, "--share", "1:3")
    done = made.curator("release", *words, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [one["epsilon"] for one in told["releases"]] == ["0.2", "0.6"]
    (whole,) = told["sums"]
    assert (whole["epsilon"], whole["affordable"]) == ("0.8", True)
    shown = made.curator("release", *words).stdout
    assert "sum: 2 releases" in shown
    assert shown.index("name: p_cube") < shown.index("name: p_tree")
    alone = made.curator("release", "plan", cube, "--epsilon", "0.7", "--json")
    assert json.loads(alone.stdout)["epsilon"] == "0.7"
    refused = made.curator("release", "plan", cube, cube)
    assert (refused.returncode, "have one name" in refused.stderr) == (1, True)
    usage = made.curator("release", "plan", cube, tree, "--epsilon", "1")
    assert usage.returncode == 2
    dear = ("plan", cube, tree, "--share", "1:1", "--epsilon", "999999", "--json")
    (whole,) = json.loads(made.curator("release", *dear).stdout)["sums"]
    assert whole["affordable"] is False
    assert spent(made) == before  # nothing was charged


def test_several_without_shares_cost_what_each_says(made):
    files = [written(made, one) for one in (spec("own"), paths("own_too", epsilon="2"))]
    done = made.curator("release", "publish", *files, "--json")
    assert done.returncode == 0, done.stderr
    assert spent(made)["own"] == "0.5"
    assert spent(made)["own_too"] == "2"


def test_what_cannot_all_be_paid_is_refused_before_the_first_charge(made):
    files = [
        written(made, spec("dear", epsilon="60000")),
        written(made, paths("dearer", epsilon="60000")),
    ]
    refused = made.curator("release", "publish", *files)
    assert refused.returncode == 1
    assert "cost epsilon 120000 together" in refused.stderr
    assert not {"dear", "dearer"} & set(spent(made))


def test_two_datasets_of_one_population_are_summed_before_the_first_charge(made):
    made.load(dataset="other_clinic")
    files = [
        written(made, spec("dear_here", epsilon="60000")),
        written(made, spec("dear_there", epsilon="60000", dataset="other_clinic")),
    ]
    refused = made.curator("release", "publish", *files)
    assert refused.returncode == 1
    assert "cost epsilon 120000 together" in refused.stderr
    assert not {"dear_here", "dear_there"} & set(spent(made))


@pytest.mark.parametrize(
    "options",
    [
        ("--share", "1"),
        ("--share", "1:1:1"),
        ("--share", "1:0"),
        ("--share", "half:half"),
        ("--epsilon", "1"),
        ("--share", "1:1", "--epsilon", "lots"),
        ("--share", "1:1", "--epsilon", "0.000000001"),
    ],
)
def test_shares_that_divide_nothing_are_a_usage_error(made, options):
    files = [written(made, one) for one in (spec("x"), paths("y"))]
    done = made.curator("release", "publish", *files, *options)
    assert done.returncode == 2, done.stderr


def test_two_of_one_name_are_refused(made):
    one, other = written(made, spec("same")), made.folder / "other.yaml"
    other.write_text(yaml.safe_dump({"release": paths("same")}, sort_keys=False))
    refused = made.curator("release", "publish", one, str(other))
    assert refused.returncode == 1
    assert "one name" in refused.stderr


def test_shares_sum_to_exactly_the_loss():
    for nano in (10, 11, 12, 10**9 + 1, 10**12 + 7):
        for shares in ((1, 1), (3, 1), (1, 2, 3), (1,), (7, 1, 1)):
            parts = divided(Loss(nano), shares)
            assert sum(part.nano_epsilon for part in parts) == nano
            whole = sum(shares)
            assert all(
                part.nano_epsilon == nano * share // whole
                for part, share in zip(parts[1:], shares[1:], strict=True)
            )
    with pytest.raises(SharesRefusedError):
        divided(Loss(1), (1, 1))
    assert read_shares("3:2:1") == (3, 2, 1)
