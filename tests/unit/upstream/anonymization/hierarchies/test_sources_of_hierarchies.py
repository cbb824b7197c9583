"""Hierarchies are read from files, and made of intervals and of code systems."""

import pytest

from privacy.schema import Hierarchy as DeclaredHierarchy
from upstream.anonymization.errors import HierarchyError
from upstream.anonymization.hierarchies.declared import code_hierarchy
from upstream.anonymization.hierarchies.files import hierarchy_of_text, read_hierarchy
from upstream.anonymization.hierarchies.hierarchy import paths_of
from upstream.anonymization.hierarchies.intervals import interval_hierarchy


def test_a_file_as_arx_has_it_is_read(tmp_path):
    path = tmp_path / "sex.csv"
    path.write_text('\ufeffMale;*\n"Fe;male";*\n\n', encoding="utf-8")
    assert read_hierarchy(path).labels == (("Male", "Fe;male"), ("*",))


def test_hierarchies_of_adult_are_read(test_data):
    if not (test_data / "adult").is_dir():
        pytest.skip("no Adult data")
    ages = read_hierarchy(test_data / "adult/adult_hierarchy_age.csv", "age")
    assert [len(labels) for labels in ages.labels] == [100, 20, 10, 5, 1]
    lattice = 1
    for path in (test_data / "adult").glob("adult_hierarchy_*.csv"):
        lattice *= read_hierarchy(path).height + 1
    assert lattice == 2 * 6_480  # with the salary's


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"caf\xe9;*", "UTF-8"), (b'"a;*', "no plain CSV"), (b"", "no value")],
)
def test_a_file_that_is_none_is_refused(tmp_path, content, told):
    path = tmp_path / "made.csv"
    path.write_bytes(content)
    with pytest.raises(HierarchyError, match=told):
        read_hierarchy(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(HierarchyError, match="cannot be read"):
        read_hierarchy(tmp_path / "none.csv")


def test_problems_name_the_file_and_the_line():
    with pytest.raises(HierarchyError, match=r"made\.csv:2: its value stands"):
        hierarchy_of_text("a;*\na;*", "made.csv")


def test_intervals_nest():
    hierarchy = interval_hierarchy("age", [17, 24, 25, 90, 25], [5, 10], origin=15)
    assert paths_of(hierarchy)["24"] == ("24", "20-24", "15-24", "*")
    assert paths_of(hierarchy)["25"] == ("25", "25-29", "25-34", "*")


@pytest.mark.parametrize("widths", [[5, 12], [0], [-5]])
def test_intervals_that_do_not_nest_are_refused(widths):
    with pytest.raises(HierarchyError, match="do not nest"):
        interval_hierarchy("age", [1, 2], widths)


def test_diagnoses_have_the_levels_of_their_code_system():
    hierarchy = code_hierarchy("icd9cm", ["401.1", "401.9", "250.00"])
    path = paths_of(hierarchy)["401.1"]
    assert path[-1] == "*"
    assert path[:2] == ("401.1", "401")
    assert len(path) == 5


def test_an_own_hierarchy_of_a_manifest_is_taken_from_narrow_to_wide():
    codes = {"a": ("north", "x"), "b": ("north", "y"), "c": ("south", None)}
    own = {"region": DeclaredHierarchy("region", ("zone", "part"), codes)}
    hierarchy = code_hierarchy("region", ["a", "b", "c"], own)
    assert paths_of(hierarchy)["a"] == ("a", "x", "north", "*")
    assert paths_of(hierarchy)["c"] == ("c", "c", "south", "*")


def test_codes_and_systems_that_are_none_are_refused():
    with pytest.raises(HierarchyError, match="no hierarchy is called 'made'"):
        code_hierarchy("made", ["a"])
    with pytest.raises(HierarchyError, match="1 of the codes") as refused:
        code_hierarchy("icd10", ["E11", "nonsense"])
    assert "nonsense" not in str(refused.value)
