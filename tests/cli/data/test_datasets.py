import re
from pathlib import Path

import pytest
import yaml

from server.demo.hospital import write_hospital
from tests.effort import gate_first
from tests.support.installations.harness import DEFAULT_ROWS, STRANGERS

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[3]


def files(curator):
    """Return everything that lies in DATA but the ledger itself, with its bytes."""
    data = curator.installation.data
    return {
        str(path.relative_to(data)): path.read_bytes()
        for path in data.rglob("*")
        if path.is_file()
        and not path.name.startswith("curator.sqlite")
        and path.suffix != ".lock"
    }


def edited(path, change):
    """Change a manifest by a function of its content."""
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content))
    return path


def refused(curator, *command):
    """Run a command that must be refused, and must change nothing."""
    before = (files(curator), curator.json("ledger", "export"))
    said = curator.said(*command)
    assert (files(curator), curator.json("ledger", "export")) == before
    return said


def test_a_load_prints_dataset_snapshot_and_report(curator):
    loaded = curator.json("dataset", "load", curator.installation.write_manifest())
    assert loaded.keys() == {"dataset", "snapshot", "report"}
    shown = curator.json("dataset", "show", "clinic")
    assert shown["snapshot"] == loaded["snapshot"]
    assert [table["name"] for table in shown["tables"]] == ["visits"]
    assert curator.json("dataset", "list")["items"] == [
        {"name": "clinic", "population": "people", "snapshot": loaded["snapshot"]}
    ]


@pytest.mark.long
def test_a_load_of_the_same_rows_says_so(curator):
    rows = list(DEFAULT_ROWS)
    first = curator.json("dataset", "load", curator.installation.write_manifest(rows))
    turned = curator.installation.write_manifest(rows[::-1])
    dry = curator.json("dataset", "load", turned, "--dry-run")
    assert dry["same_rows_as"] == first["snapshot"]
    done = curator.run("dataset", "load", turned)
    assert f"same_rows_as: {first['snapshot']}" in done.stdout
    assert f"snapshot activate {first['snapshot']}" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "change", gate_first(1, ["one value", "one row less", "one row twice"])
)
def test_a_load_of_other_rows_says_nothing(curator, change):
    rows = list(DEFAULT_ROWS)
    curator.json("dataset", "load", curator.installation.write_manifest(rows))
    other = {
        "one value": [rows[0].replace("south", "north"), *rows[1:]],
        "one row less": rows[1:],
        "one row twice": [*rows, rows[-1]],
    }[change]
    assert other != rows
    done = curator.json("dataset", "load", curator.installation.write_manifest(other))
    assert "same_rows_as" not in done


def test_a_load_sweeps_what_a_killed_load_left(curator):
    left = curator.installation.data / "snapshots" / "s_dead.duckdb.part"
    left.write_bytes(b"half a snapshot")
    curator.json("dataset", "load", curator.installation.write_manifest())
    assert not left.exists()


def test_a_load_for_people_says_its_progress_beside_the_report(curator):
    done = curator.run("dataset", "load", curator.installation.write_manifest())
    assert "100% ranking and writing visits" in done.stderr
    assert "%" not in done.stdout
    assert "snapshot: s_" in done.stdout
    assert "clinic" in curator.run("dataset", "list").stdout
    assert "visits" in curator.run("dataset", "show", "clinic").stdout


def test_a_dry_run_prints_what_is_not_0(curator):
    manifest = curator.installation.write_manifest()
    said = curator.run("dataset", "load", manifest, "--dry-run").stdout
    assert "rows_read" in said
    assert [line for line in said.splitlines() if line.endswith(": 0")] == []
    whole = curator.json("dataset", "load", manifest, "--dry-run")["report"]
    assert whole["tables"][0]["dropped_over_bound"] == 0


def test_a_dry_run_changes_nothing(curator):
    manifest = curator.installation.write_manifest()
    before = (files(curator), curator.json("ledger", "export"))
    done = curator.json("dataset", "load", manifest, "--dry-run")
    assert done["snapshot"] is None
    assert (files(curator), curator.json("ledger", "export")) == before
    assert curator.json("dataset", "list")["items"] == []


def test_a_load_that_ingestion_refuses_changes_nothing(curator):
    rows = [*DEFAULT_ROWS, "x,F,30,north,2024-03-03,n"]
    manifest = curator.installation.write_manifest(rows)
    assert refused(curator, "dataset", "load", manifest)


def test_a_broken_manifest_is_refused_with_its_place(curator):
    manifest = curator.installation.write_manifest()
    manifest.write_text(manifest.read_text().replace("snapshot_date", "snapshotdate"))
    said = refused(curator, "dataset", "load", manifest)
    assert "snapshotdate" in said
    assert manifest.name in said


def test_a_manifest_that_is_not_there_is_refused(curator, tmp_path):
    assert "nowhere.yaml" in curator.said("dataset", "load", tmp_path / "nowhere.yaml")


def test_a_new_population_needs_a_cap(curator):
    manifest = edited(
        curator.installation.write_manifest(),
        lambda content: content["population"].pop("epsilon_cap"),
    )
    assert "epsilon_cap" in refused(curator, "dataset", "load", manifest)
    assert "epsilon_cap" in refused(curator, "population", "create", manifest)


def test_a_population_can_be_created_before_its_data(curator):
    manifest = curator.installation.write_manifest(cap="12.5")
    made = curator.json("population", "create", manifest)
    assert made["epsilon_cap"] == "12.5"
    assert made["datasets"] == []
    assert "names are never used again" in refused(
        curator, "population", "create", manifest
    )
    curator.run("dataset", "load", manifest)
    assert curator.json("population", "show", "people")["datasets"] == ["clinic"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("epsilon_cap", "7"),
        ("unit", "person"),
        ("epsilon_per_query", {"min": "0.01", "max": "5"}),
        ("source", "another protocol"),
    ],
)
def test_keys_given_for_a_known_population_must_be_the_stored_ones(loaded, key, value):
    manifest = edited(
        loaded.installation.write_manifest(),
        lambda content: content["population"].update({key: value}),
    )
    assert f"population.{key}" in refused(loaded, "dataset", "load", manifest)


def test_keys_of_a_known_population_may_be_left_out(loaded):
    def leave_out(content):
        for key in ("epsilon_cap", "epsilon_per_query", "max_units", "source"):
            content["population"].pop(key)

    before = loaded.json("population", "show", "people")
    manifest = edited(loaded.installation.write_manifest(), leave_out)
    loaded.run("dataset", "load", manifest)
    after = loaded.json("population", "show", "people")
    kept = ("epsilon_cap", "epsilon_per_query", "max_units")
    assert [after[key] for key in kept] == [before[key] for key in kept]


def test_a_lowered_cap_is_the_stored_one(loaded):
    loaded.run("population", "cap", "people", "12")
    manifest = loaded.installation.write_manifest(cap="12.0")
    loaded.run("dataset", "load", manifest)
    manifest = loaded.installation.write_manifest(cap="100000")
    said = refused(loaded, "dataset", "load", manifest)
    assert "'12' in the ledger" in said
    assert "curator population cap people" in said


def test_the_type_of_ids_can_never_change(loaded):
    def spell_as_texts(content):
        content["population"]["unit_type"] = "text"
        for table in content["tables"]:
            for column in table["columns"]:
                if column["name"] == table.get("unit_column"):
                    column["type"] = "text"

    manifest = edited(loaded.installation.write_manifest(), spell_as_texts)
    said = refused(loaded, "dataset", "load", manifest)
    assert "population.unit_type" in said
    assert "it can never change" in said
    assert "population cap" not in said


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_populations_are_shown(loaded, as_json):
    for command in ((), ("people",)):
        shown = loaded.run("population", "show", *command, *as_json).stdout
        assert "people" in shown
        assert "100000" in shown


def test_unknown_names_are_refused(curator):
    assert "no population" in curator.said("population", "show", "x")
    assert "no population" in curator.said("population", "cap", "x", "1")
    assert "no dataset" in curator.said("dataset", "show", "x")


def test_patients_of_another_population_are_refused_and_the_refusal_is_recorded(loaded):
    manifest = loaded.installation.write_manifest(dataset="school", population="pupils")
    before, entries = files(loaded), loaded.json("ledger", "export")
    said = loaded.said("dataset", "load", manifest)
    assert "population 'people' too" in said
    assert "--override-overlap" in said
    assert files(loaded) == before
    (entry,) = loaded.json("ledger", "export")[len(entries) :]
    assert entry["kind"] == "admin"
    told = loaded.run("ledger", "report", "--population", "people").stdout
    assert (
        "| overlap.refused: a load of another population was refused, since it held or "
        "named people of this one |" in told
    )
    assert "pupils" not in told


@pytest.mark.long
def test_a_refused_overlap_is_told_in_words_in_the_statements_of_both(loaded):
    loaded.installation.load(STRANGERS, dataset="school", population="pupils")
    both = [*STRANGERS, *DEFAULT_ROWS]
    manifest = loaded.installation.write_manifest(
        both, dataset="school", population="pupils"
    )
    assert "population 'people' too" in loaded.said("dataset", "load", manifest)
    told = loaded.run("ledger", "report", "--population", "pupils").stdout
    assert (
        "| overlap.refused: a load of this population was refused, since it held or "
        "named people of another one |" in told
    )
    assert "'people'" not in told
    said = refused(loaded, "dataset", "load", manifest)
    assert "an earlier load of this population was refused" in said


def test_a_patient_of_another_population_is_found_in_another_spelling(loaded):
    rows = [f"00{row}" for row in DEFAULT_ROWS]
    manifest = loaded.installation.write_manifest(
        rows, dataset="school", population="pupils"
    )

    def with_texts(content):
        content["population"]["unit_type"] = "text"
        content["tables"][0]["columns"][0]["type"] = "text"

    said = loaded.said("dataset", "load", edited(manifest, with_texts))
    assert "population 'people' too" in said


@pytest.mark.long
def test_public_lists_are_no_free_question_either(loaded):
    loaded.installation.load(STRANGERS, dataset="school", population="pupils")

    def published(dataset, values):
        manifest = loaded.installation.write_manifest(
            STRANGERS, dataset=dataset, population="pupils"
        )

        def with_list(content):
            column = next(
                c for c in content["tables"][0]["columns"] if c["name"] == "ward"
            )
            column["domain"] = {"values": [*map(str, values)]}

        return edited(manifest, with_list)

    entries = loaded.json("ledger", "export")
    said = loaded.said("dataset", "load", published("first", range(1, 8)))
    assert "a public table, list or hierarchy names them" in said
    (entry,) = loaded.json("ledger", "export")[len(entries) :]
    assert "overlap.refused" in str(entry)
    for values in (range(11, 18), range(5_001, 5_009)):
        said = refused(loaded, "dataset", "load", published("second", values))
        assert "is no free question" in said
    loaded.installation.load(STRANGERS, dataset="school", population="pupils")


def test_after_a_refusal_the_next_comparison_is_no_free_question(loaded):
    probe = [*STRANGERS, DEFAULT_ROWS[0]]
    manifest = loaded.installation.write_manifest(
        probe, dataset="school", population="pupils"
    )
    assert "population 'people' too" in loaded.said("dataset", "load", manifest)
    for rows in (probe, STRANGERS):  # whoever is in it: the answer is the same
        manifest = loaded.installation.write_manifest(
            rows, dataset="school", population="pupils"
        )
        said = refused(loaded, "dataset", "load", manifest)
        assert "is no free question" in said
        assert "people" not in said.replace("people'", "")
    other_name = loaded.installation.write_manifest(
        probe, dataset="club", population="members"
    )
    said = refused(loaded, "dataset", "load", other_name)
    assert "is no free question" in said
    assert "load of this population was refused" not in said
    assert "an earlier load of a population that never came to be was refused" in said
    assert "pupils" not in said
    reason = ("--override-overlap", "--reason", "the wrong file before")
    loaded.run("dataset", "load", manifest, *reason)


@pytest.mark.parametrize("probe", ["1", "901"])
def test_a_load_of_few_units_is_refused_before_it_is_compared(loaded, probe):
    rows = [row.replace("900", probe, 1) for row in STRANGERS[:1]]
    manifest = loaded.installation.write_manifest(
        rows, dataset="school", population="pupils"
    )
    said = refused(loaded, "dataset", "load", manifest)
    assert "1 unit of the load is new to population 'pupils', fewer than 50" in said
    assert "is in" not in said
    loaded.run(
        *("dataset", "load", manifest),
        *("--override-overlap", "--reason", "a rare disease"),
    )


@pytest.mark.parametrize("probe", ["1", "999"])
def test_a_few_new_units_among_many_known_ones_are_not_compared(loaded, probe):
    loaded.installation.load(STRANGERS, dataset="school", population="pupils")
    rows = [*STRANGERS, STRANGERS[0].replace("900", probe, 1)]
    manifest = loaded.installation.write_manifest(
        rows, dataset="school", population="pupils"
    )
    said = refused(loaded, "dataset", "load", manifest)
    assert "1 unit of the load is new to population 'pupils', fewer than 50" in said
    loaded.installation.load(STRANGERS, dataset="school", population="pupils")


def test_few_units_can_be_loaded_where_there_is_nobody_to_compare_with(curator):
    manifest = curator.installation.write_manifest(DEFAULT_ROWS[:3])
    curator.run("dataset", "load", manifest)
    assert curator.json("population", "show", "people")["datasets"] == ["clinic"]


@pytest.mark.long
def test_units_that_were_allowed_once_are_not_compared_again(loaded):
    manifest = loaded.installation.write_manifest(dataset="school", population="pupils")
    reason = ("--override-overlap", "--reason", "both wards agree")
    loaded.run("dataset", "load", manifest, *reason)
    loaded.run("dataset", "load", manifest)
    for name, other in (("people", "pupils"), ("pupils", "people")):
        shown = loaded.json("population", "show", name)
        assert shown["shares_units_with"] == [other]
        assert shown["unit_fold"] == []
        told = loaded.run("ledger", "report", "--population", name).stdout
        assert "dataset.load, with units of two populations" in told


@pytest.mark.long
def test_the_example_clinic_is_loaded_beside_the_demo_hospital_as_typed(
    curator, monkeypatch
):
    hospital = write_hospital(curator.installation.folder / "hospital", 500)
    curator.run("dataset", "load", hospital)
    curator.run("principal", "create", "ada", "--role", "analyst")
    page = (ROOT / "docs/query-language.md").read_text("utf-8")
    typed = re.findall(r"`curator ((?:dataset load|project create)[^`]*)`", page)
    example = ROOT / "examples/clinic/clinic.yaml"
    assert f"curator {typed[0]}\n" in example.read_text("utf-8")
    assert len(typed) == 2
    monkeypatch.chdir(ROOT)
    for command in typed:
        curator.run(*command.split())


def test_a_dry_run_is_compared_with_no_other_population(loaded):
    manifest = loaded.installation.write_manifest(dataset="school", population="pupils")
    before = loaded.json("ledger", "export")
    assert loaded.json("dataset", "load", manifest, "--dry-run")["snapshot"] is None
    assert loaded.json("ledger", "export") == before


@pytest.mark.long
def test_an_override_of_an_overlap_needs_a_reason(loaded):
    manifest = loaded.installation.write_manifest(dataset="school", population="pupils")
    said = refused(loaded, "dataset", "load", manifest, "--override-overlap")
    assert "add --reason TEXT" in said
    assert loaded.said("dataset", "load", manifest)  # compared, and recorded
    assert refused(loaded, "dataset", "load", manifest, "--reason", "both agree")
    loaded.run(
        *("dataset", "load", manifest),
        *("--override-overlap", "--reason", "both wards agree"),
    )
    assert loaded.json("ledger", "verify")["ok"]


def test_strangers_are_no_overlap(loaded):
    loaded.installation.load(STRANGERS, dataset="school", population="pupils")
    names = [p["name"] for p in loaded.json("population", "show")["items"]]
    assert names == ["people", "pupils"]
    shown = loaded.json("population", "show", "people")
    assert shown["shares_units_with"] == []


def test_a_dataset_stays_with_its_population(loaded):
    manifest = loaded.installation.write_manifest(
        STRANGERS, dataset="clinic", population="pupils"
    )
    said = refused(loaded, "dataset", "load", manifest)
    assert "is of population 'people'" in said


def widen_age(content):
    column = next(c for c in content["tables"][0]["columns"] if c["name"] == "age")
    column["domain"]["max"] = 130


def raise_rows(content):
    content["tables"][0]["max_rows_per_unit"] = 20


def declare_sex_varying(content):
    column = next(c for c in content["tables"][0]["columns"] if c["name"] == "sex")
    column["constant_in_unit"] = False


def declare_no_hierarchy(content):
    column = next(c for c in content["tables"][0]["columns"] if c["name"] == "sex")
    column["domain"] = {"hierarchy": "icd10"}


def lengthen_ward(content):
    column = next(c for c in content["tables"][0]["columns"] if c["name"] == "ward")
    column["max_length"] = 2_000


def declare_more_rows(content):
    content["tables"][0]["max_rows"] = 10_000_000


def declare_more_units(content):
    content["population"]["max_units"] = 2_000_000


CHANGES = [
    (lengthen_ward, "visits.ward: max_length"),
    (declare_more_rows, "visits: max_rows"),
    (declare_more_units, "population: max_units"),
    (widen_age, "visits.age: domain"),
    (raise_rows, "visits: max_rows_per_unit"),
    (declare_no_hierarchy, "visits.sex: domain"),
    (declare_sex_varying, "visits.sex: constant_in_unit"),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("change", "place"), CHANGES)
def test_changed_declarations_are_refused_with_their_place(loaded, change, place):
    manifest = edited(loaded.installation.write_manifest(), change)
    assert place in refused(loaded, "dataset", "load", manifest)
    assert place in refused(loaded, "dataset", "load", manifest, "--accept-changes")


def test_changed_declarations_can_be_accepted_with_a_reason(loaded):
    manifest = edited(loaded.installation.write_manifest(), widen_age)
    accept = ("--accept-changes", "--reason", "form of 2025")
    loaded.run("dataset", "load", manifest, *accept)
    (table,) = loaded.json("dataset", "show", "clinic")["tables"]
    age = next(c for c in table["columns"] if c["name"] == "age")
    assert age["domain"] == {"min": 0, "max": 130}


def test_declared_sizes_hold_until_they_are_changed_with_a_reason(loaded):
    manifest = edited(loaded.installation.write_manifest(), declare_more_units)
    accept = ("--accept-changes", "--reason", "a second hospital joins")
    loaded.run("dataset", "load", manifest, *accept)
    assert loaded.json("population", "show", "people")["max_units"] == 2_000_000
    silent = edited(
        loaded.installation.write_manifest(),
        lambda content: content["population"].pop("max_units"),
    )
    loaded.run("dataset", "load", silent)  # it means the stored value
    assert loaded.json("population", "show", "people")["max_units"] == 2_000_000
    fewer = edited(silent, lambda content: content["population"].update(max_units=99))
    said = refused(loaded, "dataset", "load", fewer, *accept)
    assert "100 units of population people, more than its max_units of 99" in said
    assert "declare max_units: 200 " in said


def test_another_dataset_cannot_change_its_populations_size_alone(loaded):
    manifest = loaded.installation.write_manifest(dataset="clinic2")
    edited(manifest, declare_more_units)
    assert "population: max_units" in refused(loaded, "dataset", "load", manifest)


@pytest.mark.long
def test_a_changed_own_hierarchy_is_refused(loaded):
    manifest = loaded.installation.write_manifest()
    file = manifest.parent / "wards.csv"
    file.write_text("code,side\nA,north\nB,south\n")
    own = [{"name": "wards", "file": "wards.csv"}]
    edited(manifest, lambda content: content.update(hierarchies=own))
    loaded.run("dataset", "load", manifest)
    loaded.run("dataset", "load", manifest)
    file.write_text("code,side\nA,north\nB,north\n")
    said = refused(loaded, "dataset", "load", manifest)
    assert "hierarchy wards: codes" in said
    file.write_text("code,side\nA,north\nA,north\n")
    assert "wards.csv:3: the code 'A' stands twice" in refused(
        loaded, "dataset", "load", manifest
    )


def test_a_new_snapshot_keeps_the_budget(loaded):
    first = loaded.json("dataset", "show", "clinic")["snapshot"]
    loaded.run("dataset", "load", loaded.installation.write_manifest())
    shown = loaded.json("dataset", "show", "clinic")
    assert shown["snapshot"] != first
    assert [s["id"] for s in shown["snapshots"]] == [first, shown["snapshot"]]


@pytest.mark.parametrize("content", [None, "00" * 32])
def test_a_load_refuses_without_the_secret_of_the_installation(loaded, content):
    manifest = loaded.installation.write_manifest()
    secret = loaded.installation.data / "secret.key"
    secret.unlink()
    if content is not None:
        secret.write_text(content)
    assert "secret.key" in refused(loaded, "dataset", "load", manifest)
