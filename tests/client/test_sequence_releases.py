"""The client asks, browses, downloads and draws published sequences, on a server."""

import asyncio
from collections import Counter

import matplotlib as mpl
import pytest

from curator_client import (
    AsyncCurator,
    AsyncSequenceRelease,
    Curator,
    SequenceRelease,
    SqlRefusedError,
)
from tests.integration.releases.test_asking_sequences import ROWS, SPEC, paths
from tests.support.data.whole_trees import register
from tests.support.installations.harness import Installation, serve_in_thread
from tests.support.installations.publishing import Press
from tests.support.noise.samplers import ZeroVectorSampler

mpl.use("agg")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    register()
    made = Installation(tmp_path_factory.mktemp("published")).create()
    made.load(ROWS)
    key = made.analyst()
    ended = Press(made, ZeroVectorSampler).publish(SPEC)
    assert ended["state"] == "done", ended
    with serve_in_thread(made) as url:
        yield url, key


@pytest.fixture
def release(served):
    with Curator(*served) as curator:
        yield curator.release("moves")


def test_a_release_of_sequences_says_what_it_is(release):
    assert isinstance(release, SequenceRelease)
    assert release.symbols == ["north", "south", "other", None]
    assert release.max_length == 4
    assert "sex" in repr(release)
    assert release.verify()


def test_sequences_are_counted_by_how_they_begin_and_go_on(release):
    known = [path for _, path in paths()]
    begun = sum(path[:2] == ("north", "other") for path in known)
    joined = sum("other > south" in " > ".join(path) for path in known)

    assert release.count_prefix("north", "other").rows == [[f"{begun}.000000"]]
    assert release.count_run("other", "south").rows == [[f"{joined}.000000"]]
    assert float(release.first_then("north", "north").rows[0][0]) == sum(
        path.count("north") > 1 for path in known
    )


def test_places_lengths_and_values_of_the_split_are_groups(release):
    known = paths()
    seconds = Counter(path[1] if len(path) > 1 else None for _, path in known)
    lengths = Counter(len(path) for _, path in known)
    sexes = Counter(sex for sex, _ in known)

    for answer, expected in (
        (release.at(2), seconds),
        (release.lengths(), lengths),
        (release.cuboid("sex"), sexes),
    ):
        found = {row[0]: float(row[1]) for row in answer.rows}
        assert {key: count for key, count in found.items() if count} == expected
    assert release.lengths().plot() is not None


def test_wards_have_no_slope_and_top_runs_have_their_symbols(release):
    with pytest.raises(SqlRefusedError):
        release.slopes()
    assert len(release.top_runs(3, 2, 2).rows) == 3


def test_a_tree_is_browsed_downloaded_and_drawn(release):
    steps = release.tree("north", split="F").to_dicts()
    frame = release.to_pandas()
    here = [path for sex, path in paths() if sex == "F" and path[0] == "north"]

    assert sum(float(step["count"]) for step in steps) == len(here)
    assert frame[frame["parent"] < 0]["estimate"].sum() == len(paths())
    assert frame.attrs["release"]["id"] == release.id
    drawn = release.plot_tree(depth=2)
    assert drawn.patches
    labels = [label.get_text() for label in drawn.get_yticklabels()]
    assert labels == ["sex", "step 1", "step 2"]
    assert {"F", "M"} <= {text.get_text() for text in drawn.texts}


def test_made_up_sequences_have_the_trees_frequencies_and_a_seed(release):
    made_up = release.synthetic(2_000, seed=3)

    assert made_up.equals(release.synthetic(2_000, seed=3))
    assert made_up["sequence"].nunique() == 2_000
    assert list(made_up.columns) == ["sequence", "sex", "place", "symbol"]
    firsts = made_up[made_up["place"] == 1]["symbol"].value_counts()
    expected = Counter(path[0] for _, path in paths())
    assert {s: round(n / 20) for s, n in firsts.items()} == pytest.approx(
        expected, abs=12
    )
    assert release.synthetic(seed=1)["sequence"].nunique() == len(paths())


def test_every_method_can_be_awaited(served):
    async def both():
        async with AsyncCurator(*served) as curator:
            release = await curator.release("moves")
            assert isinstance(release, AsyncSequenceRelease)
            return await release.count_prefix("north"), await release.tree("north")

    counted, steps = asyncio.run(both())
    assert float(counted.rows[0][0]) == sum(float(step["count"]) for step in steps)


def test_both_clients_have_the_same_names():
    def public(kind):
        return {name for name in dir(kind) if not name.startswith("_")}

    assert public(SequenceRelease) == public(AsyncSequenceRelease)


def test_made_up_sequences_are_held_to_the_noisy_tree(release):
    made_up = release.synthetic(5_000, seed=1)
    report = release.fidelity(made_up)

    told = {line["columns"]: line for line in report}
    assert list(told)[:2] == ["place 1", "place 2"]
    assert "place 1 then place 2" in told
    for line in report:
        if line["distance"] is not None:
            assert line["distance"] < 4 * line["by_chance"] + 0.02
    assert "must be paid for" in report.note
    firsts = made_up[made_up["place"] == 1].assign(symbol="north")
    (alone,) = (one for one in release.fidelity(firsts) if one["columns"] == "place 1")
    north = sum(path[0] == "north" for _, path in paths() if path)
    known = sum(path[0] is not None for _, path in paths() if path)
    assert alone["distance"] == pytest.approx(1 - north / known, abs=1e-3)
