"""What the two guides tell their readers to type does what they say."""

import csv
import io
import re
import shutil
import subprocess
import sys
from math import exp

import pyarrow as pa
import pytest

from mechanisms.measuring.discrete_laplace import DiscreteLaplace
from server.demo.hospital import write_hospital
from tests.support.installations.harness import (
    Installation,
    ask,
    client,
    serve_in_thread,
)
from tests.support.installations.pages import ROOT, blocks, environment, run_page

CUSTODIANS, RESEARCHERS = "custodians.md", "researchers.md"

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which("curl") is None, reason="the page uses curl"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return run_page(CUSTODIANS, tmp_path_factory.mktemp("custodians"))


def test_the_custodian_gets_from_two_files_to_an_answer(session):
    assert '"rows": [["medical", ' in session
    assert "ok: true" in session


def test_the_custodian_is_told_what_the_load_dropped_and_changed(session):
    assert re.search(r"^ +dropped_over_bound: 1304$", session, re.MULTILINE)
    ward = re.search(
        r"^ +- name: ward\n((?: {4,}[a-z_]+: .*\n)+)", session, re.MULTILINE
    )
    assert ward is not None
    assert re.search(r"to_other: [1-9]", ward[1])


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    folder = tmp_path_factory.mktemp("researchers")
    made = Installation(folder).create()
    made.load_manifest(write_hospital(folder, 500))
    key = made.analyst(dataset="hospital", allotment="9")
    with serve_in_thread(made) as url:
        yield url, key


def test_the_researchers_python_runs_as_written(hospital, tmp_path):
    url, key = hospital
    shell = {**environment(tmp_path), "CURATOR_URL": url, "CURATOR_API_KEY": key}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks(RESEARCHERS, "python"))],
        env=shell,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "(paid epsilon 0.1" in done.stdout


def test_the_pages_curl_brings_one_answer_in_two_forms(hospital, tmp_path):
    url, key = hospital
    shell = {**environment(tmp_path), "url": url, "key": key}
    typed = "\n".join(each for each in blocks("http.md", "sh") if "Accept" in each)
    done = subprocess.run(
        ["bash", "-euc", typed], cwd=tmp_path, env=shell, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    stream = (tmp_path / "sexes.arrows").read_bytes()
    table = pa.ipc.open_stream(stream).read_all()
    head, *rows = csv.reader(io.StringIO(done.stdout, newline=""))
    assert head == table.column_names
    assert rows == [[str(v) for v in row.values()] for row in table.to_pylist()]
    headers = (tmp_path / "headers.txt").read_text().lower()
    known = table.schema.metadata[b"curator.query_id"].decode()
    assert f"curator-query-id: {known}" in headers


@pytest.mark.parametrize("sql", blocks(RESEARCHERS, "sql"))
def test_the_researchers_sql_is_answered(hospital, sql):
    with client(*hospital) as http:
        reply = ask(http, sql, "0.1", dataset="hospital")
    assert reply.status_code == 200, reply.text
    assert reply.json()["rows"]


def test_the_half_widths_of_the_table_are_those_of_a_count():
    page = (ROOT / "docs" / RESEARCHERS).read_text("utf-8")
    rows = re.findall(r"^\| ([\d.]+) \| (\d+) \|", page, re.MULTILINE)
    assert len(rows) == 5
    for epsilon, half_width in rows:
        exact = DiscreteLaplace(1 / float(epsilon))
        assert abs(tail_width(exact.scale) - int(half_width)) <= 1, epsilon


def tail_width(scale):
    """Return the least w with P(|noise| <= w) >= 0.95, by the tail's formula."""
    decay, width = exp(-1 / scale), 0
    while 2 * decay ** (width + 1) / (1 + decay) > 0.05:
        width += 1
    return width


def test_the_odds_of_the_table_are_those_of_the_cap():
    page = (ROOT / "docs/privacy-promise.md").read_text("utf-8")
    found = re.findall(r"^\| ([\d.]+) \| ([\d.,]+) \| ([\d.]+) %", page, re.MULTILINE)
    assert len(found) >= 5
    for cap, odds, percent in found:
        power = exp(float(cap))
        assert float(odds.replace(",", "")) == pytest.approx(power, rel=0.005)
        assert float(percent) == pytest.approx(100 * power / (1 + power), abs=0.5)


def test_each_line_of_the_load_report_is_explained(session):
    page = (ROOT / "docs" / CUSTODIANS).read_text("utf-8")
    report = session.partition("report:\n")[2].partition("\ndataset:")[0]
    lines = set(re.findall(r"^ {4,}-? ?(\w+): \d", report, re.MULTILINE))
    assert len(lines) >= 9
    assert [line for line in sorted(lines) if f"`{line}`" not in page] == []
