"""The client lists, asks, downloads and draws what is published, on a real server."""

import asyncio
import inspect
from collections import Counter
from dataclasses import replace
from itertools import combinations

import matplotlib as mpl
import pytest

from curator_client import (
    AsyncCurator,
    AsyncRelease,
    Curator,
    NotFoundError,
    Release,
    SqlRefusedError,
)
from curator_client.releases.signatures import is_signed
from tests.support.data.wards import publish
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    serve_in_thread,
)
from tests.support.noise.samplers import ZeroVectorSampler

mpl.use("agg")
ROWS = [row.split(",") for row in DEFAULT_ROWS]
BY_SEX = "SELECT sex, COUNT(*) AS n FROM wards GROUP BY sex"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("published")).create()
    made.load()
    key = made.analyst()
    exact = publish(made, ZeroVectorSampler)["release"]
    noisy = publish(made, name="noisy", epsilon="0.2")["release"]
    with serve_in_thread(made) as url:
        yield url, key, exact, noisy


@pytest.fixture
def curator(served):
    url, key, *_ = served
    with Curator(url, key) as curator:
        yield curator


@pytest.fixture
def release(served, curator):
    return curator.release(served[2])


def test_releases_are_listed_newest_first_and_opened_by_id_or_name(served, curator):
    _, _, exact, noisy = served
    listed = curator.releases()

    assert [one["id"] for one in listed] == [noisy, exact]
    assert curator.release("wards").id == exact
    assert curator.release(noisy).id == noisy
    with pytest.raises(NotFoundError):
        curator.release("rel_" + "0" * 24)
    with pytest.raises(NotFoundError, match="no release 'wardz'; did you mean wards"):
        curator.release("wardz")


def test_a_question_to_a_release_reads_and_exports_like_an_answer(release):
    answer = release.query(BY_SEX)

    by_sex = Counter(row[1] for row in ROWS)
    assert answer.rows == [["F", by_sex["F"]], ["M", by_sex["M"]]]
    assert answer.release == release.id
    assert answer.charge["epsilon"] == "0"
    frame = answer.to_pandas()
    assert list(frame.columns) == [
        "sex", "n", "n_half_width_95", "n_low_95", "n_high_95",
    ]  # fmt: skip
    assert (frame["n_low_95"] < frame["n"]).all()
    assert (frame["n_high_95"] - frame["n"] == frame["n_half_width_95"]).all()
    assert f"{by_sex['F']} (" in str(answer)
    assert "<table>" in answer._repr_html_()
    assert f"free, from the release {release.id}" in str(answer)


def test_a_share_has_its_interval(release):
    answer = release.query(
        "SELECT AVG(CASE WHEN ward = 'north' THEN 1 ELSE 0 END) AS p FROM wards"
    )

    share = sum(row[3] == "north" for row in ROWS) / len(ROWS)
    low, high = map(float, answer.interval("p")[0])
    assert float(answer.rows[0][0]) == pytest.approx(share, abs=1e-6)
    assert 0 <= low < share < high <= 1


def test_confidence_is_handed_on(release):
    narrow = release.query(BY_SEX, confidence=0.5).interval("n")
    wide = release.query(BY_SEX, confidence=0.999).interval("n")

    for (low, high), (inner_low, inner_high) in zip(wide, narrow, strict=True):
        assert float(low) <= float(inner_low)  # neither begins below 0
        assert float(inner_high) < float(high)


def test_refusals_show_the_place_in_the_text(release):
    with pytest.raises(SqlRefusedError) as refused:
        release.query("SELECT weight, COUNT(*) FROM wards GROUP BY weight")

    assert "weight" in str(refused.value)


def test_intervals_are_asked_at_another_confidence_and_named_by_it(served, curator):
    noisy = curator.release(served[3])
    usual, surer = noisy.cuboid("sex"), noisy.cuboid("sex", confidence=0.999)
    assert (usual.confidence, surer.confidence) == ("0.95", "0.999")
    assert surer.rows == usual.rows
    for one, other in zip(
        usual.row_half_widths["n"], surer.row_half_widths["n"], strict=True
    ):
        assert 0 < one < other
    titles = surer.to_csv().splitlines()[0]
    assert titles == "sex,n,n_half_width_99_9,n_low_99_9,n_high_99_9"
    assert surer.to_pandas()["n_low_99_9"].dtype == "float64"
    assert "each interval holds 99.9 %" in str(surer)
    assert "holds" not in str(usual)


def test_a_half_width_is_asked_of_measures_whose_rows_agree(served, curator):
    answer = curator.release(served[3]).cuboid("sex")
    assert answer.half_width("n") == answer.row_half_widths["n"][0]
    with pytest.raises(KeyError, match="'sex' is no measured column; there are: n"):
        answer.half_width("sex")
    widths = [{"column": "n", "confidence": "0.95", "rows": ["1", "2", "2"]}]
    differing = replace(answer, document={**answer.document, "half_widths": widths})
    with pytest.raises(ValueError, match=r"row_half_widths\['n'\]"):
        differing.half_width("n")


def test_cuboids_are_sums_over_the_other_dimensions(release):
    total = release.cuboid()
    frame = release.cuboid("ward", "sex").to_pandas()

    assert total.rows == [[len(ROWS)]]
    assert frame["n"].sum() == len(ROWS)
    with pytest.raises(ValueError, match="no dimension"):
        release.cuboid("note")
    loss = release.manifest["loss"]["epsilon"]
    paid = {"id": release.id, "name": release.name, "epsilon": loss}
    assert frame.attrs["release"] == paid
    assert frame.attrs["reused"] is True
    assert not {"query_id", "epsilon"} & set(frame.attrs)
    with pytest.raises(ValueError, match="once"):
        release.cuboid("sex", "ward", "sex")


def test_the_whole_cube_comes_as_a_frame_checked_against_the_manifest(release):
    cells = release.to_pandas()

    assert len(cells) == release.manifest["cells"]
    assert cells["estimate"].sum() == len(ROWS)
    assert list(cells.columns)[:4] == list(release.dimensions)
    loss = release.manifest["loss"]["epsilon"]
    paid = {"id": release.id, "name": release.name, "epsilon": loss}
    assert cells.attrs["release"] == release.to_pandas().attrs["release"] == paid
    assert cells.attrs["snapshot"] == release.manifest["snapshot"]


def test_synthetic_rows_follow_the_cube(release, served, curator):
    made_up = release.synthetic(seed=1)
    few = curator.release(served[3]).synthetic(50, seed=1)

    cells = {tuple(row) for row in _filled(release.to_pandas())}
    assert len(made_up) == len(ROWS)
    assert {tuple(row) for row in _keys(made_up)} <= cells
    assert len(few) == 50
    assert few.equals(curator.release(served[3]).synthetic(50, seed=1))


def test_made_up_rows_are_held_to_the_noisy_cube(release, served, curator):
    noisy = curator.release(served[3])
    for each in (release, noisy):
        report = each.fidelity(each.synthetic(5_000, seed=1))

        names = list(each.dimensions)
        pairs = [f"{a}, {b}" for a, b in combinations(names, 2)]
        assert [line["columns"] for line in report] == [*names, *pairs]
        for line in report:
            if each is noisy and line["distance"] is None:
                continue  # its noise left nobody: now and then
            assert 0 <= line["distance"] <= 1
            assert 0 < line["noise"] <= 1
        assert "must be paid for" in report.note
    exact = release.fidelity(release.synthetic(5_000, seed=1))
    for line in exact:  # its cells are the estimates: what is left is drawing
        assert line["distance"] < 4 * line["by_chance"] + 0.01
        assert line["outside"] == 0


def test_rows_that_do_not_follow_the_cube_are_told(release):
    made_up = release.synthetic(5_000, seed=1)
    told = {one["columns"]: one for one in release.fidelity(made_up.assign(sex="F"))}

    men = sum(row[1] == "M" for row in ROWS) / len(ROWS)
    assert told["sex"]["distance"] == pytest.approx(men, abs=1e-3)
    assert told["ward"]["distance"] < 0.05
    with pytest.raises(ValueError, match="no column ward"):
        release.fidelity(made_up.drop(columns="ward"))


def test_nothing_is_paid_and_no_row_is_read_for_a_report(served, release):
    url, key, *_ = served
    with Curator(url, key) as curator:
        before = curator.budget().document
        release.fidelity(release.synthetic(seed=2))
        assert curator.budget().document == before


def _keys(frame):
    return frame.astype(object).where(frame.notna(), None).itertuples(index=False)


def _filled(cells):
    kept = cells[cells["estimate"] > 0]
    return _keys(kept[["sex", "age", "ward", "month"]])


def test_pictures_are_drawn(release):
    bars = release.histogram("ward")
    shades = release.heatmap("month", "age")

    assert bars.get_ylabel() or bars.get_title() or bars.get_xlabel()
    assert (shades.get_xlabel(), shades.get_ylabel()) == ("month", "age")
    mpl.pyplot.close("all")


def test_a_signature_is_verified_and_a_changed_manifest_is_not(release):
    manifest = release.manifest

    assert release.verify()
    assert release.verify(manifest["public_key"])
    assert not release.verify("0" * 64)
    assert not is_signed({**manifest, "cells": 1}, manifest["public_key"])


def test_a_release_says_what_it_is(release):
    assert "release wards" in repr(release)
    assert "sex 2" in repr(release)
    assert release._repr_html_().startswith("<p>")


def test_the_release_that_awaits_is_the_release_that_waits(served):
    url, key, exact, _ = served

    def public(kind):
        return {name for name in dir(kind) if not name.startswith("_")}

    async def asked():
        async with AsyncCurator(url, key) as curator:
            release = await curator.release(exact)
            answer = await release.query(BY_SEX)
            cells = await release.to_pandas()
            return answer, cells, await release.verify()

    answer, cells, verified = asyncio.run(asked())
    assert public(Release) == public(AsyncRelease)
    for name in ("query", "cuboid", "to_pandas", "synthetic", "fidelity", "heatmap"):
        waits, awaits = getattr(Release, name), getattr(AsyncRelease, name)
        assert inspect.getdoc(waits) == inspect.getdoc(awaits)
        assert inspect.signature(waits) == inspect.signature(awaits)
        assert "Steps" not in str(inspect.signature(waits))
    assert sum(row[1] for row in answer.rows) == cells["estimate"].sum() == len(ROWS)
    assert verified


def test_a_plan_names_the_release_and_a_question_takes_it(served):
    url, key, exact, _ = served
    sql = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
    with Curator(url, key, dataset="clinic") as curator:
        plan = curator.plan(sql, epsilon="1")
        answer = curator.query(sql, epsilon="1", options={"prefer": "release"})

    by_sex = Counter(row[1] for row in ROWS)
    assert {one["id"] for one in plan.free} >= {exact}
    assert "price: epsilon 1" in str(plan)
    assert "the release wards answers this for nothing" in str(plan)
    assert "--prefer release" in str(plan)
    assert plan.related == []
    assert answer.rows == [["F", by_sex["F"]], ["M", by_sex["M"]]]
    assert "free: from the release wards" in str(answer)
    assert list(answer.to_pandas().columns)[2:] == [
        "n_half_width_95", "n_low_95", "n_high_95",
    ]  # fmt: skip
