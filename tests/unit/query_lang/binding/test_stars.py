"""``*`` below the top is the list of columns that it stands for."""

import pytest

from privacy.errors import QueryError
from tests.support.compiling import compile_query
from tests.support.data.hospital import HOSPITAL

ALL = ", ".join(column.name for column in HOSPITAL.tables["encounters"].columns)
ALIKE = {
    "alone": (
        (
            "SELECT ward, COUNT(*) FROM (SELECT * FROM encounters WHERE age > 60)"
            " t GROUP BY ward"
        ),
        (
            "SELECT ward, COUNT(*) FROM (SELECT patient_id, ward FROM encounters "
            "WHERE age > 60) t GROUP BY ward"
        ),
    ),
    "beside a window": (
        (
            "WITH f AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id "
            "ORDER BY admitted) AS n FROM encounters) SELECT ward, COUNT(*) FROM "
            "f WHERE n = 1 GROUP BY ward"
        ),
        (
            "WITH f AS (SELECT patient_id, ward, ROW_NUMBER() OVER (PARTITION BY "
            "patient_id ORDER BY admitted) AS n FROM encounters) SELECT ward, "
            "COUNT(*) FROM f WHERE n = 1 GROUP BY ward"
        ),
    ),
    "of one table": (
        (
            "SELECT region, ward, COUNT(*) FROM (SELECT e.*, p.region FROM "
            "encounters e JOIN patients p ON p.patient_id = e.patient_id) t GROUP"
            " BY 1, 2"
        ),
        (
            "SELECT p.region, e.ward, COUNT(*) FROM encounters e JOIN patients p "
            "ON p.patient_id = e.patient_id GROUP BY 1, 2"
        ),
    ),
    "of all tables": (
        (
            "SELECT region, ward, COUNT(DISTINCT patient_id) FROM (SELECT * FROM "
            "(SELECT patient_id, region FROM patients) p LEFT JOIN (SELECT "
            "patient_id, ward FROM encounters) e ON e.patient_id = p.patient_id) "
            "t GROUP BY 1, 2"
        ),
        (
            "SELECT p.region, e.ward, COUNT(DISTINCT p.patient_id) FROM (SELECT "
            "patient_id, region FROM patients) p LEFT JOIN (SELECT patient_id, "
            "ward FROM encounters) e ON e.patient_id = p.patient_id GROUP BY 1, 2"
        ),
    ),
    "joined by USING": (
        (
            "SELECT region, ward, COUNT(*) FROM (SELECT * FROM (SELECT "
            "patient_id, region FROM patients) p JOIN (SELECT patient_id, ward "
            "FROM encounters) e USING (patient_id)) t GROUP BY 1, 2"
        ),
        (
            "SELECT region, ward, COUNT(*) FROM (SELECT patient_id, region FROM "
            "patients) p JOIN (SELECT patient_id, ward FROM encounters) e USING "
            "(patient_id) GROUP BY 1, 2"
        ),
    ),
    "DISTINCT ON": (
        (
            "SELECT ward, COUNT(*) FROM (SELECT DISTINCT ON (patient_id) * FROM "
            "encounters ORDER BY patient_id, admitted) t GROUP BY ward"
        ),
        (
            "SELECT ward, COUNT(*) FROM (SELECT DISTINCT ON (patient_id) "
            "patient_id, ward FROM encounters ORDER BY patient_id, admitted) t "
            "GROUP BY ward"
        ),
    ),
    "QUALIFY": (
        (
            "SELECT ward, COUNT(*) FROM (SELECT * FROM encounters QUALIFY "
            "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY admitted) = 1 "
            "AND level > 1) t GROUP BY ward"
        ),
        (
            "SELECT ward, COUNT(*) FROM (SELECT patient_id, ward, level FROM "
            "encounters QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER "
            "BY admitted) = 1 AND level > 1) t GROUP BY ward"
        ),
    ),
    "QUALIFY by another table": (
        (
            "SELECT age, COUNT(*) FROM (SELECT e.* FROM encounters e JOIN patients p"
            " ON p.patient_id = e.patient_id QUALIFY ROW_NUMBER() OVER (PARTITION BY"
            " e.patient_id ORDER BY e.admitted) = 1 AND p.sex = 'f') t GROUP BY age"
        ),
        (
            "SELECT age, COUNT(*) FROM (SELECT e.patient_id, e.age FROM encounters e"
            " JOIN patients p ON p.patient_id = e.patient_id QUALIFY ROW_NUMBER() OVER"
            " (PARTITION BY e.patient_id ORDER BY e.admitted) = 1 AND p.sex = 'f') t"
            " GROUP BY age"
        ),
    ),
    "all but some": (
        (
            "SELECT ward, COUNT(*) FROM (SELECT e.* EXCEPT (sex), p.* EXCLUDE region "
            "FROM encounters e JOIN patients p ON p.patient_id = e.patient_id) t "
            "WHERE sex = 'f' GROUP BY ward"
        ),
        (
            "SELECT ward, COUNT(*) FROM (SELECT e.patient_id, e.ward, p.sex FROM "
            "encounters e JOIN patients p ON p.patient_id = e.patient_id) t "
            "WHERE sex = 'f' GROUP BY ward"
        ),
    ),
    "a row number handed on": (
        (
            "SELECT ward, COUNT(*) FROM (SELECT * FROM (SELECT *, ROW_NUMBER() OVER "
            "(PARTITION BY patient_id ORDER BY admitted) AS n FROM encounters) t) u "
            "WHERE n = 1 GROUP BY ward"
        ),
        (
            "SELECT ward, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
            "patient_id ORDER BY admitted) AS n FROM encounters) u WHERE n = 1 "
            "GROUP BY ward"
        ),
    ),
    "DISTINCT over QUALIFY": (
        (
            "SELECT COUNT(*) FROM (SELECT DISTINCT * FROM (SELECT * FROM patients p "
            "QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY "
            "sex) <= 2) t) u"
        ),
        (
            "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, sex, "
            "region FROM (SELECT "
            "patient_id, sex, region FROM patients p QUALIFY ROW_NUMBER() OVER "
            "(PARTITION BY patient_id ORDER BY sex) <= 2) t) u"
        ),
    ),
    "QUALIFY by a column that USING joins": (
        (
            "SELECT COUNT(*) FROM (SELECT * FROM (SELECT patient_id, sex "
            "FROM encounters)"
            " e LEFT JOIN patients p USING (patient_id, sex) QUALIFY ROW_NUMBER() OVER "
            "(PARTITION BY e.patient_id ORDER BY e.sex) = 1 AND p.sex IS NULL) t"
        ),
        (
            "SELECT COUNT(*) FROM (SELECT e.patient_id, p.sex AS other, ROW_NUMBER() "
            "OVER (PARTITION BY e.patient_id ORDER BY e.sex) AS n FROM (SELECT "
            "patient_id, sex FROM encounters) e LEFT JOIN patients p "
            "USING (patient_id, "
            "sex)) t WHERE n = 1 AND other IS NULL"
        ),
    ),
    "the order that USING makes": (
        (
            "SELECT SUM(x) FROM (SELECT patient_id, b, x FROM (SELECT * FROM (SELECT "
            "level AS b, patient_id, age AS x FROM encounters) e JOIN "
            "(SELECT patient_id,"
            " age AS x FROM encounters) f USING (patient_id, x)) t UNION ALL SELECT "
            "patient_id, level, age FROM encounters) u"
        ),
        (
            "SELECT SUM(x) FROM (SELECT patient_id, b, x FROM (SELECT patient_id, x, b "
            "FROM (SELECT level AS b, patient_id, age AS x FROM encounters) e JOIN "
            "(SELECT patient_id, age AS x FROM encounters) f USING (patient_id, x)) t "
            "UNION ALL SELECT patient_id, level, age FROM encounters) u"
        ),
    ),
    "DISTINCT": (
        ("SELECT COUNT(*) FROM (SELECT DISTINCT * FROM patients) t"),
        (
            "SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, sex, region FROM "
            "patients) t"
        ),
    ),
    "UNION ALL": (
        (
            "SELECT COUNT(*) FROM (SELECT * FROM encounters UNION ALL SELECT * "
            "FROM encounters) t"
        ),
        (
            f"SELECT COUNT(*) FROM (SELECT {ALL} FROM encounters UNION ALL SELECT "
            f"{ALL} FROM encounters) t"
        ),
    ),
    "EXISTS": (
        (
            "SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT e.* FROM "
            "encounters e WHERE e.patient_id = p.patient_id)"
        ),
        (
            "SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM "
            "encounters e WHERE e.patient_id = p.patient_id)"
        ),
    ),
    "over groups": (
        (
            "SELECT t.*, n * 2 AS m FROM (SELECT ward, COUNT(*) AS n FROM "
            "encounters GROUP BY ward) t"
        ),
        ("SELECT ward, COUNT(*) AS n, COUNT(*) * 2 AS m FROM encounters GROUP BY ward"),
    ),
}


@pytest.mark.parametrize("form", ALIKE)
def test_a_star_below_the_top_is_the_columns_that_it_stands_for(form):
    starred, listed = (compile_query(sql, HOSPITAL) for sql in ALIKE[form])
    assert starred.rendered == listed.rendered
    assert starred.measures == listed.measures
    assert starred.columns == listed.columns


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM encounters", "rows never leave"),
        ("SELECT e.*, COUNT(*) FROM encounters e", "rows never leave"),
        ("SELECT * FROM (SELECT * FROM encounters) t", "rows never leave"),
        (
            (
                "SELECT COUNT(*) FROM (SELECT * FROM encounters e JOIN patients p ON "
                "p.patient_id = e.patient_id) t"
            ),
            "e and p both have a column sex .*write e.* and list what is read of p",
        ),
        ("SELECT COUNT(*) FROM (SELECT x.* FROM encounters e) t", "called x"),
        ("SELECT COUNT(*) FROM (SELECT * EXCEPT (x) FROM encounters e) t", "column x"),
        (
            "SELECT z.* FROM (SELECT ward, COUNT(*) AS n FROM encounters GROUP BY 1) t",
            "rows never leave",
        ),
        (
            (
                "SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT zzz.* FROM "
                "encounters e WHERE e.patient_id = p.patient_id)"
            ),
            "called zzz",
        ),
        (
            (
                "SELECT COUNT(*) FROM (SELECT DISTINCT ON (patient_id) *, 0 - age AS x "
                "FROM encounters ORDER BY patient_id, 2) t"
            ),
            "a position counts columns",
        ),
        (
            (
                "SELECT COUNT(*) FROM (SELECT * FROM encounters e RIGHT JOIN "
                "patients p "
                "ON e.patient_id = p.patient_id) t"
            ),
            "another order",
        ),
        (
            (
                "SELECT COUNT(*) FROM (SELECT * FROM encounters QUALIFY "
                "zzz.ward = 'icu')"
                " t"
            ),
            "called zzz",
        ),
        (
            (
                "SELECT COUNT(*) FROM (SELECT e.*, p.* FROM (SELECT patient_id FROM "
                "patients) p LEFT JOIN encounters e ON e.patient_id = p.patient_id) t"
            ),
            "both have a column patient_id",
        ),
        ("SELECT COUNT(*) FROM (SELECT UPPER(*) FROM encounters e) t", "rows never"),
        (
            "SELECT COUNT(*) FROM (SELECT *, age AS ward FROM encounters e) t",
            "two output columns are called ward",
        ),
    ],
)
def test_stars_that_would_show_rows_or_mean_two_columns_are_refused(sql, said):
    with pytest.raises(QueryError, match=said):
        compile_query(sql, HOSPITAL)
