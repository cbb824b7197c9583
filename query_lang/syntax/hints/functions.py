"""Functions that no column or answer here needs, and what to write instead."""

from query_lang.syntax import rules
from query_lang.syntax.rules import Rule

BY_PLACE = "take a part by its place, LEFT(code, 3), or ask for it: code LIKE 'E11.%'"

_FLAGS = (
    "which of a few values a patient has is a text of flags: CASE WHEN BOOL_OR(drug = "
    "'ramipril') THEN 'R' ELSE '-' END || CASE WHEN BOOL_OR(drug = 'bisoprolol') THEN "
    "'B' ELSE '-' END; the first of an order is FIRST(drug ORDER BY started)"
)
_MOST_FREQUENT = (
    "count each value and show the first: SELECT ward, COUNT(*) AS n ... GROUP BY ward "
    "ORDER BY n DESC LIMIT 1"
)
FURTHER: tuple[tuple[Rule, str, str], ...] = (
    # rule, names in capitals, what to write instead
    (
        rules.AGGREGATE,
        (
            "ARRAY_CONCAT_AGG COLLECT_LIST COLLECT_SET JSONB_AGG JSONB_OBJECT_AGG "
            "JSON_AGG JSON_ARRAYAGG JSON_OBJECTAGG JSON_OBJECT_AGG OBJECT_AGG "
            "WM_CONCAT XMLAGG"
        ),
        _FLAGS,
    ),
    (
        rules.AGGREGATE,
        "APPROX_TOP_COUNT APPROX_TOP_K APPROX_TOP_SUM STATS_MODE TOPK",
        _MOST_FREQUENT,
    ),
    (
        rules.AGGREGATE,
        "REGR_R2",
        "write CORR(cost, age) * CORR(cost, age) AS r2",
    ),
    (
        rules.AGGREGATE,
        "REGR_INTERCEPT",
        (
            "where neither is NULL in a row: AVG(cost) - REGR_SLOPE(cost, age) * "
            "AVG(age) AS intercept"
        ),
    ),
    (
        rules.AGGREGATE,
        "REGR_COUNT REGR_AVGX REGR_AVGY REGR_SXX REGR_SXY REGR_SYY",
        (
            "write what is wanted of the rows that have both: COUNT(*) FILTER (WHERE "
            "cost IS NOT NULL AND age IS NOT NULL), AVG(age) FILTER (WHERE cost IS NOT "
            "NULL), COVAR_POP(cost, age)"
        ),
    ),
    (
        rules.AGGREGATE,
        "CHECKSUM_AGG RANGE_AGG RANGE_INTERSECT_AGG HASH_AGG",
        "",
    ),
    (
        rules.FUNCTION,
        (
            "GET_JSON_OBJECT JSONB_EXTRACT_PATH_TEXT JSON_EXTRACT JSON_EXTRACT_PATH "
            "JSON_EXTRACT_PATH_TEXT JSON_EXTRACT_SCALAR JSON_EXTRACT_STRING JSON_QUERY "
            "JSON_UNQUOTE JSON_VALUE PARSE_JSON XMLTABLE"
        ),
        "no column holds documents: ask for a column by its name, smoker = TRUE",
    ),
    (
        rules.FUNCTION,
        (
            "JSONB_BUILD_OBJECT JSON_ARRAY JSON_BUILD_OBJECT JSON_OBJECT NAMED_STRUCT "
            "OBJECT_CONSTRUCT ROW ROW_TO_JSON STRUCT TO_JSON TO_JSONB TO_JSON_STRING"
        ),
        "select each by itself: SELECT sex, COUNT(*) AS n, AVG(age) AS mean",
    ),
    (
        rules.FUNCTION,
        (
            "ARRAY_CONTAINS ARRAY_POSITION ARRAY_TO_STRING CHOOSE ELT FIELD "
            " FIND_IN_SET LIST_CONTAINS"
        ),
        (
            "write code IN ('E10', 'E11'), or CASE code WHEN 'E10' THEN 1 WHEN 'E11' "
            "THEN 2 END"
        ),
    ),
    (
        rules.FUNCTION,
        "ARRAY_LENGTH ARRAY_SIZE CARDINALITY SIZE NUM_NONNULLS NUM_NULLS",
        (
            "count rows, COUNT(*), values that are there, COUNT(age), or different "
            "ones, COUNT(DISTINCT code)"
        ),
    ),
    (
        rules.FUNCTION,
        "EXPLODE GENERATE_ARRAY GENERATE_DATE_ARRAY GENERATE_SERIES UNNEST",
        (
            "rows stand in FROM: encounters AS e JOIN (VALUES (2023), (2024)) AS t(y) "
            "ON e.year = t.y; every period of a domain comes back without it"
        ),
    ),
    (
        rules.FUNCTION,
        (
            "CONNECTION_ID CURRENT_CATALOG CURRENT_DATABASE CURRENT_SCHEMA "
            "CURRENT_USER DATABASE PG_SLEEP SESSION_USER SLEEP USER VERSION"
        ),
        "leave it out: a query speaks of the declared tables alone",
    ),
    (
        rules.FUNCTION,
        (
            "FARM_FINGERPRINT HASH HASHBYTES MD5 ORA_HASH SHA1 SHA2 SHA256 SHA512 "
            "CHECKSUM BINARY_CHECKSUM"
        ),
        (
            "compare the values themselves, code = 'E11', and count different ones by "
            "COUNT(DISTINCT patient_id); no sample is drawn: ask over the whole table"
        ),
    ),
    (
        rules.FUNCTION,
        "ASCII CHAR CHR UNICODE CODEPOINT NORMALIZE UNACCENT QUOTENAME QUOTE_IDENT",
        "write the text itself in single quotes: LEFT(code, 1) = 'E'",
    ),
    (
        rules.FUNCTION,
        "REPEAT REPLICATE SPACE REVERSE",
        "write the text out, 'EE', or ask for its end: ENDS_WITH(code, '.9')",
    ),
    (
        rules.FUNCTION,
        "SOUNDEX DIFFERENCE LEVENSHTEIN EDITDISTANCE SIMILARITY FREETEXT MATCH",
        "write what is looked for: LOWER(ward) LIKE '%card%', code IN ('E10', 'E11')",
    ),
    (
        rules.FUNCTION,
        "SUBSTRING_INDEX",
        BY_PLACE,
    ),
    (
        rules.FUNCTION,
        "PATINDEX REGEXP_POSITION",
        (
            "write REGEXP_LIKE(code, '^E1[0-4]'), or STRPOS(code, '.') for the place "
            "of a text"
        ),
    ),
    (
        rules.FUNCTION,
        "RLIKE",
        (
            "of a part of the text write code ~ '^E1[0-4]', of all of it "
            "REGEXP_FULL_MATCH(code, 'E1[0-4].*')"
        ),
    ),
    (
        rules.FUNCTION,
        (
            "PARSE STR TO_DECIMAL TO_DOUBLE TO_INTEGER TO_NUMBER TO_NUMERIC TO_TEXT "
            "TO_STRING TRY_PARSE TRY_TO_DECIMAL TRY_TO_NUMBER TRY_TO_NUMERIC"
        ),
        "write CAST(age AS TEXT), CAST(code AS INTEGER): NULL where it is no number",
    ),
    (
        rules.FUNCTION,
        "ISDATE ISFINITE ISNUMERIC IS_DATE IS_INTEGER IS_NAN ISNAN IS_NUMBER NANVL",
        "a column holds values of its declared type or NULL: age IS NOT NULL",
    ),
    (
        rules.FUNCTION,
        "LNNVL",
        "write (age >= 60) IS NOT TRUE",
    ),
    (
        rules.FUNCTION,
        "DIV0 DIV0NULL DIVIDE IEEE_DIVIDE",
        "write SAFE_DIVIDE(a, b): NULL where b is 0, which COALESCE makes 0",
    ),
    (rules.FUNCTION, "REMAINDER", "write MOD(age, 10): 0 where nothing remains"),
    (rules.FUNCTION, "TRY_TO_DATE", "write DATE '2024-01-31' or TO_DATE('2024-01-31')"),
    (
        rules.FUNCTION,
        (
            "CLOCK_TIMESTAMP STATEMENT_TIMESTAMP TRANSACTION_TIMESTAMP UTC_DATE "
            "UTC_TIMESTAMP CURTIME"
        ),
        "write CURRENT_DATE: the snapshot's declared date",
    ),
    (
        rules.FUNCTION,
        (
            "FROM_UNIXTIME TIMESTAMP_MILLIS TIMESTAMP_SECONDS TO_TIMESTAMP "
            "TO_TIMESTAMP_NTZ"
        ),
        "write TIMESTAMP '2024-01-31 12:00:00', or DATE '2024-01-31'",
    ),
    (
        rules.FUNCTION,
        "JULIAN JULIANDAY TO_DAYS TO_JULIAN_DATE UNIX_DATE UNIX_SECONDS UNIX_TIMESTAMP",
        (
            "compare days, admitted > DATE '2024-01-31', or count them: admitted - "
            "DATE '1970-01-01'"
        ),
    ),
    (
        rules.FUNCTION,
        "MAKEDATE",
        "write MAKE_DATE(year, 1, 1) + 59 for the sixtieth day of a year",
    ),
    (
        rules.FUNCTION,
        "NEXT_DAY PREVIOUS_DAY",
        "write DATE_TRUNC('week', admitted) for its Monday, and + 7 for the next",
    ),
    (
        rules.FUNCTION,
        "TIMEDIFF TIME_DIFF",
        "write DATE_DIFF('day', admitted, discharged)",
    ),
    (
        rules.AGGREGATE,
        "N NMISS",
        "write COUNT(age), and COUNT(*) FILTER (WHERE age IS NULL) of what is missing",
    ),
    (
        rules.AGGREGATE,
        "STD",
        "write STDDEV(age), which is of a sample, or STDDEV_POP(age)",
    ),
    (rules.FUNCTION, "MISSING", "write age IS NULL"),
    (
        rules.FUNCTION,
        "INTCK",
        (
            "count the days or months that begin between two days: DATEDIFF(month, "
            "admitted, discharged)"
        ),
    ),
    (
        rules.FUNCTION,
        "YRDIF",
        (
            "completed years are EXTRACT(YEAR FROM AGE(admitted, born)), and compared "
            "by born + INTERVAL '18 years' <= admitted"
        ),
    ),
    (rules.FUNCTION, "INT", "write TRUNC(x), toward 0, or FLOOR(x)"),
    (rules.FUNCTION, "COLUMNS", "name each column: SELECT sex, AVG(age) AS mean"),
)
"""Names of one kind share a hint; an empty one is the rule's own."""
