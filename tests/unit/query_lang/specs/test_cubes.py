import pytest

from privacy.contributions import ContributionBounds
from privacy.errors import QueryError
from privacy.schema import ColumnType
from query_lang.specs.axes import Axis, AxisRefusedError
from query_lang.specs.cubes import CubePlan, CubeRequest
from tests.support.compiling import compile_cube, compile_query
from tests.support.data.hospital import HOSPITAL


def cube(
    *axes: Axis,
    source: str = "encounters",
    units: bool = True,
    where: str | None = None,
) -> CubePlan:
    return compile_cube(CubeRequest(source, axes, units, where), HOSPITAL)


def test_a_cube_has_the_sensitivity_of_the_query_that_it_is() -> None:
    queries = {
        True: "SELECT sex, level, COUNT(DISTINCT patient_id) AS n",
        False: "SELECT sex, level, COUNT(*) AS n",
    }
    for units, select in queries.items():
        query = compile_query(f"{select} FROM encounters GROUP BY sex, level", HOSPITAL)
        made = cube(Axis("sex"), Axis("level"), units=units)
        assert made.l1_sensitivity == query.measures[0].sensitivity.l1


def test_units_touch_no_more_cells_than_the_dimensions_that_vary_have() -> None:
    assert cube(Axis("sex")).l1_sensitivity == 1
    assert cube(Axis("sex"), Axis("level")).l1_sensitivity == 3
    assert cube(Axis("sex"), Axis("level"), Axis("ward")).l1_sensitivity == 4
    assert cube(Axis("sex"), units=False).l1_sensitivity == 4


def test_bounds_lower_how_much_one_unit_touches() -> None:
    bounds = ContributionBounds(max_groups_per_unit=2)
    request = CubeRequest(
        "encounters", (Axis("level"), Axis("ward")), True, bounds=bounds
    )
    assert compile_cube(request, HOSPITAL).l1_sensitivity == 2


def test_a_cube_may_have_more_cells_than_an_answer() -> None:
    axes = [Axis("age", name=f"age_{n}", bands=n + 1) for n in range(3)]
    made = cube(*axes, Axis("age"), Axis("ward"))
    assert made.size > 10_000
    assert [len(d.values) for d in made.dimensions] == [122, 62, 42, 122, 3]


def test_null_is_the_last_value_where_a_column_may_be_null() -> None:
    (ward, urgent) = cube(Axis("ward"), Axis("urgent")).dimensions
    assert ward.values == ("north", "south", None)
    assert urgent.values == (False, True)


def test_months_are_shown_as_year_and_month_and_stored_as_numbers() -> None:
    (month,) = cube(Axis("admitted", name="month", level="month")).dimensions
    assert month.values == ("2024-01", "2024-02", None)
    assert month.stored == (0, 1, None)
    assert month.ordered
    assert month.type is ColumnType.TEXT


def test_bins_cover_the_whole_declared_range() -> None:
    (age,) = cube(Axis("age", bins=("18", "65"))).dimensions
    assert age.values == ("0-17", "18-64", "65-120", None)
    (equal,) = cube(Axis("level", bins=3)).dimensions
    assert equal.values == ("1", "2", "3")
    (days,) = cube(Axis("admitted", bins=("2024-02-01",))).dimensions
    assert days.values == ("2024-01-30..2024-01-31", "2024-02-01", None)


@pytest.mark.parametrize(
    "axis",
    [
        Axis("code"),
        Axis("stay"),
        Axis("age", bins=("0", "10")),
        Axis("age", bins=("20", "10")),
        Axis("age", bins=("x",)),
        Axis("age", bins=("NaN",)),
        Axis("age", bins=("20.5",)),
        Axis("age", bins=("9e999999999999999999",)),
        Axis("age", bins=("1e999990",)),
        Axis("age", bins=("1e-999990",)),
        Axis("age", bins=("1" * 10_000_000,)),
        Axis("admitted", bins=("2024",)),
        Axis("age", bins=1),
        Axis("age", bins=10, bands=10),
        Axis("sex", level="chapter"),
        Axis("admitted", level="decade"),
        Axis("sex FROM encounters --"),
        Axis("sex", name="Sex"),
    ],
)
def test_a_dimension_without_public_values_is_refused(axis: Axis) -> None:
    with pytest.raises(AxisRefusedError) as caught:
        cube(axis)
    assert caught.value.place == 0


@pytest.mark.parametrize(
    ("source", "where"),
    [
        ("wards", None),
        ("encounters GROUP BY sex", None),
        ("encounters WHERE age > 3", None),
        ("encounters", "age > 3 GROUP BY sex"),
        ("encounters", "age > 3 LIMIT 4"),
        ("encounters", "age > 3 UNION ALL SELECT 1 FROM encounters"),
        ("strangers", None),
        ("encounters -- all", "age > 3"),
        ("encounters -- all", None),
        ("encounters /* all */", "age > 3"),
        ("encounters", "age > 3 -- and sex = 'F'"),
        ("encounters WHERE age < 2 --", "age > 3"),
        ("encounters e JOIN patients p ON", "age > 3"),
    ],
)
def test_from_and_where_hold_nothing_else(source: str, where: str | None) -> None:
    with pytest.raises(QueryError):
        cube(Axis("sex"), source=source, where=where)


def test_two_dimensions_of_one_name_are_refused() -> None:
    with pytest.raises(AxisRefusedError):
        cube(Axis("age"), Axis("age", bands=10))


def test_a_dimension_is_not_called_as_the_unit_key() -> None:
    """Questions to the cube count units by that name: it could not be asked."""
    for source in (
        "encounters AS e",
        "(SELECT patient_id AS p, sex FROM encounters) AS e",
        "patients AS q JOIN encounters AS e ON q.patient_id = e.patient_id",
    ):
        with pytest.raises(AxisRefusedError, match="give this dimension another name"):
            cube(Axis("e.sex", name="patient_id"), source=source)
        assert cube(Axis("e.sex", name="patient_id_value"), source=source).size > 1


def test_more_than_a_million_million_cells_are_refused() -> None:
    axes = [Axis("age", name=f"a{n}", bands=n + 1) for n in range(8)]
    with pytest.raises(AxisRefusedError):
        cube(*axes)


def test_joined_tables_make_a_cube() -> None:
    source = "patients p JOIN encounters e ON p.patient_id = e.patient_id"
    made = cube(Axis("p.region"), Axis("e.level"), source=source)
    assert [d.name for d in made.dimensions] == ["region", "level"]
    assert made.l1_sensitivity == 3
