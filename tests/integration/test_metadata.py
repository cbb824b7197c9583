"""Metadata for other tools: public facts alone, and as their validators want them."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from curator_client import Curator
from server.use_cases.datasets.metadata.croissant import croissant_of
from server.use_cases.datasets.metadata.csvw import csvw_of
from server.use_cases.datasets.metadata.formats import FORMATS
from server.use_cases.datasets.public_schema import public_schema_of
from tests.integration.test_sample import DATASET
from tests.support.data.wards import publish
from tests.support.installations.harness import (
    DEFAULT_ROWS,
    Installation,
    client,
    serve_in_thread,
)

TOOLS = Path(sys.executable).parent
OTHER_ROWS = ["4711,F,33,north,2024-02-02,rare words"]
PAGE = "/v1/datasets/clinic"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Installation(tmp_path_factory.mktemp("metadata")).create()
    made.load()
    key = made.analyst()
    published = publish(made)
    with serve_in_thread(made) as url:
        yield url, key, published["release"]


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    """Return an installation as whoever works on its host sees it."""
    made = Installation(tmp_path_factory.mktemp("host")).create()
    made.load(OTHER_ROWS)
    return made


@pytest.fixture
def http(served):
    url, key, _ = served
    with client(url, key) as connection:
        yield connection


@pytest.fixture(scope="module")
def of_others(tmp_path_factory):
    """Return what a server says whose rows are other people's."""
    made = Installation(tmp_path_factory.mktemp("others")).create()
    made.load(OTHER_ROWS)
    key = made.analyst()
    with serve_in_thread(made) as url, client(url, key) as http:
        return {form: _metadata(http, form) for form in FORMATS}


def _metadata(http, form):
    reply = http.get(f"{PAGE}/metadata?format={form}")
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"] == "application/ld+json"
    return reply.json()


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_declarations_over_other_rows_are_the_same_bytes(
    http, of_others, form
):
    assert _metadata(http, form) == of_others[form]


def test_csvw_says_types_domains_units_and_bounds(http):
    (table,) = _metadata(http, "csvw")["tables"]
    columns = {one["name"]: one for one in table["tableSchema"]["columns"]}

    assert table["url"] == "sample.csv?table=visits"
    assert columns["age"]["datatype"] == {
        "base": "integer", "minimum": 0, "maximum": 120,
    }  # fmt: skip
    assert columns["ward"]["datatype"]["format"] == "^(?:north|south|other)$"
    assert (columns["ward"]["required"], columns["sex"]["required"]) == (False, True)
    told = {
        one["schema:name"]: one["schema:value"]
        for one in table["schema:additionalProperty"]
    }
    assert told["unit_column"] == "patient_id"
    assert told["max_rows_per_unit"] == 10
    assert told["max_rows"] == 200_000


def test_croissant_lists_declared_values_and_no_digest(http):
    document = _metadata(http, "croissant")

    by_name = {one["@id"]: one for one in document["recordSet"]}
    assert by_name["visits/ward/values"]["data"] == [
        {"visits/ward/values/value": value} for value in ("north", "south", "other")
    ]
    assert document["isLiveDataset"] is True
    (file,) = document["distribution"]
    assert not {"sha256", "md5", "contentSize"} & file.keys()


def test_codes_of_a_hierarchy_of_ones_own_are_not_told():
    for made in (csvw_of, croissant_of):
        text = json.dumps(made(public_schema_of(DATASET)))
        assert "hierarchy" in text
        assert "north" not in text  # a level of an own hierarchy's code


def test_values_that_look_like_patterns_are_quoted():
    schema = public_schema_of(DATASET)
    column = schema["tables"][0]["columns"][2]
    column["domain"] = {"values": ["<1.5", "a|b"], "other": False}
    (table,) = csvw_of(schema)["tables"]
    found = table["tableSchema"]["columns"][2]["datatype"]["format"]
    assert found == r"^(?:<1\.5|a\|b)$"


def test_unknown_formats_are_refused_and_strangers_see_nothing(http, served):
    assert http.get(f"{PAGE}/metadata?format=xml").status_code == 422
    assert http.get("/v1/datasets/nowhere/metadata").status_code == 404
    bare = httpx.get(f"{served[0]}{PAGE}/metadata")
    assert bare.status_code == 401


def test_the_client_hands_on_whole_addresses(served):
    url, key, _ = served
    with Curator(url, key) as curator:
        csvw, croissant = curator.metadata(), curator.metadata("croissant")
    assert csvw["tables"][0]["url"] == f"{url}{PAGE}/sample.csv?table=visits"
    assert croissant["distribution"][0]["contentUrl"] == csvw["tables"][0]["url"]
    assert croissant["url"] == f"{url}{PAGE}"


@pytest.mark.parametrize("form", FORMATS)
def test_a_command_on_the_host_prints_what_the_server_sends(host, http, form):
    done = host.curator("dataset", "metadata", "clinic", "--format", form)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == _metadata(http, form)
    wrong = host.curator("dataset", "metadata", "nowhere")
    assert wrong.returncode == 1
    assert "no dataset 'nowhere'" in wrong.stderr


def test_the_file_that_metadata_names_holds_the_made_up_rows(http):
    text = http.get(f"{PAGE}/sample.csv?table=visits&rows=2").text.splitlines()
    made_up = http.get(f"{PAGE}/sample?rows=2").json()
    assert text[0].split(",") == [one["name"] for one in made_up["columns"]]
    assert len(text) == 3
    assert not set(DEFAULT_ROWS) & set(text)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # within the reader
def test_the_catalog_is_linked_data_with_the_addresses_of_files(served, http):
    import rdflib  # noqa: PLC0415 - of the validators, which take seconds

    url, _, release = served
    reply = http.get("/v1/catalog")
    graph = rdflib.Graph().parse(
        data=reply.text, format="json-ld", publicID=f"{url}/v1/catalog"
    )
    dcat, dct = rdflib.Namespace("http://www.w3.org/ns/dcat#"), rdflib.DCTERMS
    (catalog,) = graph.subjects(rdflib.RDF.type, dcat.Catalog)
    (found,) = graph.objects(catalog, dcat.dataset)
    assert str(found) == f"{url}/v1/releases/{release}"
    for wanted in (dct.title, dct.description, dct.identifier, dct.issued):
        assert graph.value(found, wanted) is not None, wanted
    files = {
        str(graph.value(one, dcat.downloadURL))
        for one in graph.objects(found, dcat.distribution)
    }
    assert len(files) == 4
    for file in files:
        assert http.get(file.removeprefix(url)).status_code == 200, file


def test_the_catalog_shows_no_release_of_others(served):
    url, *_ = served
    stranger = httpx.get(f"{url}/v1/catalog", headers={"Authorization": "Bearer cur_x"})
    assert stranger.status_code == 401


@pytest.fixture
def folder(served, http, tmp_path):
    """Return a folder with a release's files and a dataset's metadata, downloaded."""
    *_, release = served
    path = f"/v1/releases/{release}"
    manifest = http.get(path).json()["manifest"]
    for name in manifest["files"]:
        table, _, form = name.partition(".")
        reply = http.get(f"{path}/download?format={form}&table={table}")
        (tmp_path / name).write_bytes(reply.content)
    csvw = _metadata(http, "csvw")
    csvw["tables"][0]["url"] = "visits.csv"
    (tmp_path / "csvw.json").write_text(json.dumps(csvw))
    rows = http.get(f"{PAGE}/sample.csv?rows=200").text
    (tmp_path / "visits.csv").write_text(rows)
    croissant = json.dumps(_metadata(http, "croissant"))
    (tmp_path / "croissant.json").write_text(croissant)
    return tmp_path


def run(folder, tool, *arguments):
    return subprocess.run(
        [str(TOOLS / tool), *arguments],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.thorough
def test_a_downloaded_release_is_a_valid_data_package(folder):
    done = run(folder, "frictionless", "validate", "datapackage.json")
    assert done.returncode == 0, done.stdout + done.stderr
    cells = folder / "cube.csv"
    cells.write_text(cells.read_text().replace("\nF,", "\nX,", 1))
    assert run(folder, "frictionless", "validate", "datapackage.json").returncode == 1


@pytest.mark.thorough
def test_made_up_rows_are_valid_by_csvw_and_broken_ones_are_not(folder):
    done = run(folder, "csvwvalidate", "csvw.json")
    assert (done.returncode, done.stdout.strip()) == (0, "OK"), done.stderr
    rows = folder / "visits.csv"
    rows.write_text(rows.read_text().replace(",F,", ",X,", 1))
    assert "FAIL" in run(folder, "csvwvalidate", "csvw.json").stdout


@pytest.mark.thorough
def test_croissant_is_valid_and_its_records_can_be_read(folder):
    done = run(folder, "mlcroissant", "validate", "--jsonld", "croissant.json")
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
    script = (
        "import mlcroissant as m\n"
        "d = m.Dataset(jsonld='croissant.json', mapping={'visits.csv': 'visits.csv'})\n"
        "for records in ('visits', 'visits/ward/values'):\n"
        "    print(len(list(d.records(records))))"
    )
    read = run(folder, "python", "-c", script)
    assert read.stdout.split() == ["200", "3"], read.stderr
    broken = (folder / "croissant.json").read_text().replace('"cr:Field"', '"cr:Feld"')
    (folder / "croissant.json").write_text(broken)
    done = run(folder, "mlcroissant", "validate", "--jsonld", "croissant.json")
    assert done.returncode != 0 or "error" in done.stderr
