"""Every rule that refuses a query: its name, what is wrong, the nearest allowed form.

docs/refusals.md has a heading for each name; a test holds that.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SHAPE = "SELECT sex, COUNT(*) AS n FROM encounters WHERE age >= 60 GROUP BY sex"


@dataclass(frozen=True, slots=True)
class Rule:
    """A reason to refuse, in words that hold no text of the query."""

    name: str
    detail: str
    hint: str


TEXT_SIZE = Rule(
    "text_size", "a query holds at most 16 KiB of text", "ask in several queries"
)
TOKEN_COUNT = Rule(
    "token_count", "a query holds at most 2,000 tokens", "ask in several queries"
)
DEPTH = Rule(
    "depth",
    "brackets, CASE, NOT and minus signs nest at most 30 deep",
    "chains of AND and OR need no brackets",
)
IN_LIST_SIZE = Rule(
    "in_list_size",
    "a list of IN, ANY or ALL holds at most 256 items",
    "use BETWEEN for a range, or several lists joined by OR",
)
CONTROL_CHARACTER = Rule(
    "control_character",
    "control characters are not allowed",
    "use spaces and line breaks",
)
NON_ASCII = Rule(
    "non_ascii",
    "only strings and comments may hold characters outside ASCII",
    "write names in a-z, 0-9 and _, and quotes as '",
)
SYMBOL = Rule("symbol", "this sign has no meaning here", f"a query reads: {SHAPE}")
PARAMETER = Rule(
    "parameter",
    "parameters, dollar quotes, @ and { are not allowed",
    "write the value itself: age >= 60, code = 'E11'",
)
CAST = Rule(
    "cast",
    "casts make boolean, integer, decimal, date, timestamp or text",
    "CAST(died AS INTEGER), admitted::date, cost::numeric(10, 2)",
)
OPTIMIZER_HINT = Rule(
    "optimizer_hint",
    "optimizer hints are not allowed",
    "leave the hint out; plain comments are fine",
)
NUMBER_FORM = Rule(
    "number_form",
    "numbers are plain decimals",
    "write 1000000 or 0.25, without exponent, underscore or hexadecimal form",
)
STRING_FORM = Rule(
    "string_form",
    "strings with a prefix are not allowed",
    "write 'text', with '' for a quote inside it",
)
STRING_CONCATENATION = Rule(
    "string_concatenation",
    "two strings side by side are not allowed",
    "write one string: 'ab'",
)
ONE_STATEMENT = Rule(
    "one_statement",
    "one request holds one statement",
    "send each SELECT by itself",
)
ONLY_SELECT = Rule(
    "only_select", "a query begins with SELECT", f"a query reads: {SHAPE}"
)
UNREAD_TEXT = Rule(
    "unread_text",
    "this part of the text has no place in the language",
    "leave it out",
)
IDENTIFIER = Rule(
    "identifier",
    "names match [a-z][a-z0-9_]{0,62}",
    "write a text in single quotes, 'F'; a quoted name as declared, in lower case",
)


RECURSIVE = Rule(
    "recursive",
    "WITH RECURSIVE is not allowed",
    "name each step: WITH a AS (SELECT ...), b AS (SELECT ... FROM a); a row for each "
    "number or day is JOIN (VALUES (1), (2)) AS t(n) ON t.n = e.month",
)
MATERIALIZED = Rule(
    "materialized",
    "MATERIALIZED is not in the language",
    "WITH a AS (SELECT ...)",
)
COLUMN_LIST = Rule(
    "column_list",
    "a list of columns names those of a query, one for each",
    "name each column in the SELECT list: SELECT age AS years",
)
SET_OPERATION = Rule(
    "set_operation",
    "UNION, INTERSECT and EXCEPT stand in derived tables, WITH and IN (...); at the "
    "top, UNION of SELECTs that aggregate alike and that a literal tells apart",
    "count over it: SELECT what, COUNT(*) FROM (SELECT patient_id, 'a' AS what FROM a "
    "UNION ALL SELECT patient_id, 'b' FROM b) AS u GROUP BY what",
)
SCALAR_SUBQUERY = Rule(
    "scalar_subquery",
    "a subquery cannot stand here as a value",
    "join a derived table, or use IN (SELECT ...) or EXISTS (SELECT ...); a share of "
    "what WHERE keeps is COUNT(*) / SUM(COUNT(*)) OVER (), of all rows COUNT(*) FILTER "
    "(WHERE age >= 60) / COUNT(*) without WHERE; what rows are compared with is asked "
    "for first, and its number written, WHERE age > 54.2",
)
JOIN = Rule(
    "join",
    "a join is INNER or LEFT and has ON or USING",
    "JOIN patients AS p ON p.patient_id = e.patient_id",
)
COMMA_JOIN = Rule(
    "comma_join",
    "nothing ties this table to those before the comma",
    "add WHERE p.patient_id = e.patient_id, or write JOIN patients AS p ON "
    "p.patient_id = e.patient_id",
)
RIGHT_JOIN = Rule(
    "right_join",
    "RIGHT JOIN stands as the first join only",
    "begin with the table that holds every unit, and LEFT JOIN the others",
)
FULL_JOIN = Rule(
    "full_join",
    "FULL JOIN is not allowed",
    "LEFT JOIN from the table that holds every unit",
)
CROSS_JOIN = Rule(
    "cross_join",
    "CROSS JOIN would pair rows of different units",
    "JOIN patients AS p ON p.patient_id = e.patient_id; a share of the total is "
    "COUNT(*) / SUM(COUNT(*)) OVER (), and one of all patients is read from patients "
    "LEFT JOIN what is counted",
)
NATURAL_JOIN = Rule(
    "natural_join",
    "NATURAL JOIN is INNER or LEFT, of tables with names in common, and stands beside "
    "joins of its kind, by USING or by ON",
    "JOIN patients USING (patient_id)",
)
SEMI_JOIN = Rule(
    "semi_join",
    "SEMI JOIN and ANTI JOIN are not in the language",
    "WHERE EXISTS (SELECT * FROM ...), or NOT EXISTS",
)
ASOF_JOIN = Rule(
    "asof_join",
    "ASOF JOIN is not allowed",
    "number the rows by ROW_NUMBER in a derived table and join those numbered 1",
)
POSITIONAL_JOIN = Rule(
    "positional_join",
    "POSITIONAL JOIN would pair rows of different units",
    "JOIN patients AS p ON p.patient_id = e.patient_id",
)
LATERAL_JOIN = Rule(
    "lateral_join",
    "LATERAL and APPLY give each row the first of the rows of one table that it meets, "
    "or aggregates of them",
    "LEFT JOIN LATERAL (SELECT value FROM labs AS l WHERE l.patient_id = e.patient_id "
    "AND l.taken <= e.admitted ORDER BY l.taken DESC LIMIT 1) AS last ON TRUE; (SELECT "
    "COUNT(*) AS n FROM labs AS l WHERE l.patient_id = e.patient_id AND l.taken <= "
    "e.admitted) AS x ON TRUE",
)
DISTINCT = Rule(
    "distinct",
    "SELECT DISTINCT is not allowed at the top",
    "use GROUP BY: every declared group comes back once",
)
DISTINCT_ON = Rule(
    "distinct_on",
    "DISTINCT ON stands below the top, without GROUP BY, and ORDER BY begins with its "
    "keys",
    "FROM (SELECT DISTINCT ON (patient_id) patient_id, code FROM diagnoses ORDER BY "
    "patient_id, day) AS first_codes",
)
ORDER_BY = Rule(
    "order_by",
    "ORDER BY takes expressions, at the top of the query",
    "move it to the end of the query and name what orders, ORDER BY n DESC, or use "
    "ROW_NUMBER in a derived table",
)
LIMIT = Rule(
    "limit",
    "LIMIT takes a whole number, at the top of the query",
    "LIMIT 10 at the end of the query; in a derived table use ROW_NUMBER",
)
OFFSET = Rule("offset", "OFFSET is not allowed", "LIMIT 10, and skip rows yourself")
ROW_NUMBERS = Rule(
    "row_numbers", "a number of rows is a whole number", "LIMIT 10, or ROWS 2 PRECEDING"
)
SAMPLE = Rule("sample", "sampling is not allowed", "ask over the whole table")
WINDOW = Rule(
    "window",
    "this function cannot stand over a window",
    "aggregates, ROW_NUMBER, LAG, LEAD, FIRST_VALUE and LAST_VALUE can",
)
WINDOW_NEEDED = Rule(
    "window_needed",
    "this function needs a window, OVER (...)",
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY admitted)",
)
NAMED_WINDOW = Rule(
    "named_window",
    "WINDOW names each window once, before it is used, and what is over it says what "
    "it leaves open",
    "WINDOW w AS (PARTITION BY patient_id), or the window itself: OVER (PARTITION BY "
    "patient_id)",
)
FRAME = Rule(
    "frame",
    "a frame is ROWS without EXCLUDE and does not end before it begins; RANGE and "
    "GROUPS are not allowed",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
)
RANK = Rule(
    "rank",
    "windows number rows by ROW_NUMBER only; RANK and DENSE_RANK number rows of the "
    "answer",
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY admitted), of which one of "
    "the rows that tie is the first; all of them are by admitted = MIN(admitted) OVER "
    "(PARTITION BY patient_id)",
)
QUALIFY = Rule(
    "qualify",
    "QUALIFY chooses rows of a derived table, or of the answer",
    "FROM (SELECT patient_id, code FROM diagnoses QUALIFY ROW_NUMBER() OVER (PARTITION "
    "BY patient_id ORDER BY day) = 1) AS first_codes",
)
GROUPING_SETS = Rule(
    "grouping_sets",
    "ROLLUP, CUBE, GROUPING SETS and GROUPING stand at the top of a query, over keys",
    "GROUP BY ROLLUP (sex, year): cells, totals of each sex, and one of all; which is "
    "which says GROUPING(year)",
)
CONSTANT_ROWS = Rule(
    "constant_rows",
    "rows in the text stand beside rows of a declared table, 256 of them at most",
    "FROM encounters AS e JOIN (VALUES ('child', 0, 17), ('adult', 18, 120)) AS "
    "b(band, low, high) ON e.age BETWEEN b.low AND b.high; of periods: GROUP BY "
    "DATE_TRUNC('month', admitted), which gives every month of the domain",
)
FROM_CLAUSE = Rule(
    "from_clause",
    "FROM names a declared table, a table of WITH, or a derived table",
    "FROM encounters AS e",
)
QUALIFIED_TABLE = Rule(
    "qualified_table",
    "in front of a table stands nothing but public, dbo or the dataset's own name",
    "write its declared name alone: FROM encounters",
)
CLAUSE = Rule("clause", "this clause is not in the language", f"a query reads: {SHAPE}")


STAR = Rule(
    "star",
    "rows never leave: * stands in COUNT(*) and below the top only",
    "at the top select keys and aggregates: SELECT sex, COUNT(*); below it all "
    "columns, SELECT *, all but some, SELECT * EXCEPT (age), or each by its name",
)
ARGUMENTS = Rule(
    "arguments",
    "this function takes another number of arguments",
    "see the function in the reference",
)
AGGREGATE = Rule(
    "aggregate",
    "this aggregate is not in the language",
    "use COUNT, SUM, AVG, MEDIAN or QUANTILE",
)
MIN_MAX = Rule(
    "min_max",
    "MIN and MAX would show one row's value",
    "ask for a quantile, such as QUANTILE(x, 0.99); to order groups leave it out: they "
    "come in the order of their list, of CASE in that of its branches",
)
AGGREGATE_DISTINCT = Rule(
    "aggregate_distinct",
    "DISTINCT stands in COUNT and STRING_AGG only",
    "each patient's different values are added once by SUM(age) FROM (SELECT DISTINCT "
    "patient_id, age FROM encounters) AS d, and counted by COUNT(DISTINCT age); of MIN "
    "and MAX leave DISTINCT out; numbers of a public table are read on the dataset's "
    "page and written in, CASE region WHEN 'north' THEN 152300 ELSE 412000 END",
)
AGGREGATE_FILTER = Rule(
    "aggregate_filter",
    "FILTER follows an aggregate",
    "COUNT(*) FILTER (WHERE age >= 60), SUM(cost) FILTER (WHERE sex = 'F')",
)
ORDER_IN_CALL = Rule(
    "order_in_call",
    "ORDER BY stands in FIRST, LAST and STRING_AGG only",
    "FIRST(code ORDER BY admitted)",
)
FIRST_LAST_ORDER = Rule(
    "first_last_order",
    "FIRST and LAST need an order",
    "FIRST(code ORDER BY admitted)",
)
WITHIN_GROUP = Rule(
    "within_group",
    "WITHIN GROUP follows PERCENTILE_CONT(q) or PERCENTILE_DISC(q), and has one order",
    "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age), or QUANTILE(age, 0.9)",
)
IGNORE_NULLS = Rule(
    "ignore_nulls",
    "IGNORE NULLS and RESPECT NULLS are not allowed: NULLs count",
    "filter first, in a derived table: WHERE code IS NOT NULL",
)
AGGREGATE_PLACE = Rule(
    "aggregate_place",
    "an aggregate of all rows stands in SELECT, HAVING or ORDER BY, not in a condition "
    "on rows",
    "write a condition on results in HAVING; for one on one unit's "
    "rows, roll up by the unit key in a derived table: GROUP BY patient_id HAVING "
    "COUNT(*) >= 2",
)
FUNCTION = Rule(
    "function",
    "this function is not in the language",
    "see the list of functions in the reference: of numbers, texts, days and codes, "
    "and the aggregates",
)
EXTRACT_PART = Rule(
    "extract_part",
    "EXTRACT takes YEAR, QUARTER, MONTH, WEEK, DAY, DOW, ISODOW, DOY, HOUR, MINUTE, "
    "SECOND or EPOCH",
    "EXTRACT(YEAR FROM admitted)",
)
ARITHMETIC = Rule(
    "arithmetic",
    "arithmetic is + - * / % on numbers, and days added to dates",
    "age + 1, admitted + 90, discharged - admitted",
)
OPERATOR = Rule(
    "operator",
    "this operator is not in the language",
    "use + - * / and %; AND, OR and NOT as words: ward = 'icu' AND died",
)
INTERVAL = Rule(
    "interval",
    "an interval is whole years, months, weeks, days, hours, minutes or seconds beside "
    "a date or a difference",
    "admitted + INTERVAL '90 days', INTERVAL '1 year 2 months', INTERVAL 90 DAY",
)
LIKE = Rule(
    "like",
    "LIKE compares text with a pattern",
    "code LIKE 'E11%'",
)
PATTERN = Rule(
    "pattern",
    "this is no pattern that every engine reads alike",
    "write LIKE 'E1%', or a regular expression of characters, sets, (a|b), ., ?, *, + "
    "and {2,3}: code ~ '^E1[0-4]'",
)
TEXT_NEEDED = Rule(
    "text_needed",
    "this function takes a text",
    "LEFT(code, 3); of a number LEFT(CAST(age AS TEXT), 1)",
)
TEXT_PART = Rule(
    "text_part",
    "a place or length in a text is a whole number from 1 to 10,000, written out",
    "LEFT(code, 3), SUBSTRING(code, 5, 1); the last are RIGHT(code, 1); up to a sign "
    "or as a pattern ask for it: code LIKE 'E11.%', code ~ '^E1[0-4]'",
)
TEXT_LITERAL = Rule(
    "text_literal",
    "what is looked for in a text, or put into it, is a string of up to 100 characters",
    "STARTS_WITH(code, 'E11'), REPLACE(code, '.', '')",
)
TEXT_WIDTH = Rule(
    "text_width",
    "a computed text has at most 65,536 bytes",
    "join shorter texts, or shorten one: CONCAT(LEFT(ward, 20), code)",
)
IS_TRUE = Rule(
    "is_true",
    "IS is followed by NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM",
    "smoker IS NOT TRUE, age IS NULL, a IS DISTINCT FROM b",
)
IS_NULL_OPERAND = Rule(
    "is_null_operand",
    "IS NULL asks about a column",
    "age IS NULL",
)
ANY_ALL = Rule(
    "any_all",
    "only = ANY (SELECT ...) and <> ALL (SELECT ...) are in the language",
    "use IN with a list or a subquery; > ANY compares with a roll-up of the unit's "
    "rows in a derived table, MIN(y), and > ALL with MAX(y)",
)
TUPLE = Rule(
    "tuple",
    "a list in brackets stands after IN, or before it",
    "code IN ('E10', 'E11'), (a, b) IN ((1, 2), (3, 4)); (a, b) >= (1, 2) is a > 1 OR "
    "(a = 1 AND b >= 2)",
)
EMPTY_LIST = Rule("empty_list", "an IN list needs an item", "code IN ('E10', 'E11')")
IN_COLUMN = Rule(
    "in_column",
    "IN has a list or a subquery in brackets",
    "code IN ('E10', 'E11'), or code IN (SELECT code FROM codes)",
)
BRACKETS_NEEDED = Rule(
    "brackets_needed",
    "a condition beside another operator needs brackets",
    "(age >= 60) = smoker",
)
OPERAND = Rule(
    "operand",
    "this form needs a column, where a literal stands",
    "age >= 60, admitted <= discharged",
)
CONDITION = Rule(
    "condition",
    "a condition is a comparison, BETWEEN, IN, IS NULL, a boolean column or TRUE",
    "WHERE age >= 60 AND NOT smoker",
)
CONSTRUCT = Rule(
    "construct",
    "this construct is not in the language",
    f"a query reads: {SHAPE}",
)


# Binding

UNKNOWN_TABLE = Rule(
    "unknown_table", "no table has this name", "see the dataset's page"
)
PRIVATE_TABLE_NEEDED = Rule(
    "private_table_needed",
    "a query has to read a private table",
    "public tables can be read on the dataset's page: write their numbers in, 1000.0 * "
    "COUNT(*) / CASE region WHEN 'north' THEN 152300 ELSE 412000 END",
)
UNIT_KEY_OPAQUE = Rule(
    "unit_key_opaque",
    "the unit key is not shown, not grouped by at the top, and compared with nothing "
    "but another unit key",
    "count it: COUNT(DISTINCT unit key)",
)
NULL_LITERAL = Rule(
    "null_literal",
    "NULL equals nothing, not even NULL",
    "use IS NULL or IS NOT NULL; of a list leave it out: code IN ('E10', 'E11') OR "
    "code IS NULL",
)
LITERAL_TYPE = Rule(
    "literal_type", "this literal does not fit the column", "use its type"
)
LITERAL_RANGE = Rule(
    "literal_range",
    "numbers lie within 64 bits and have at most 400 characters",
    "use a number from -9223372036854775808 to 9223372036854775807",
)
COLUMN_TYPES = Rule(
    "column_types",
    "two columns are compared only when their types fit",
    "numbers with numbers, else columns of one type",
)
BOOLEAN_NEEDED = Rule(
    "boolean_needed", "a bare column in WHERE is boolean", "compare it: age >= 60"
)
AGGREGATE_NEEDED = Rule(
    "aggregate_needed",
    "an answer needs an aggregate",
    "add COUNT(*) or COUNT(DISTINCT unit key)",
)
LITERAL_SELECTED = Rule(
    "literal_selected",
    "only keys and aggregates are selected",
    "SELECT sex, COUNT(*) AS n",
)
SELECT_ITEM = Rule(
    "select_item",
    "the SELECT list holds keys and aggregates",
    "SELECT sex, COUNT(*) AS n",
)
NOT_GROUPED = Rule(
    "not_grouped",
    "each selected column has to be a key of GROUP BY",
    "add it to GROUP BY",
)
KEY_NOT_SELECTED = Rule(
    "key_not_selected",
    "each key of GROUP BY has to be selected",
    "add the key to the SELECT list",
)
GROUP_BY_FORM = Rule(
    "group_by_form",
    "GROUP BY takes expressions over columns, aliases and positions of keys",
    "GROUP BY sex, or GROUP BY 1",
)
DUPLICATE_NAME = Rule(
    "duplicate_name", "two output columns have one name", "give one an alias"
)
NO_CELLS = Rule(
    "no_cells", "this key has no declared value", "leave it out of GROUP BY"
)
ROW_BOUND_NEEDED = Rule(
    "row_bound_needed",
    "this table declares no row bound",
    "ask the custodian",
)

# Names and aliases

AMBIGUOUS_NAME = Rule(
    "ambiguous_name",
    "this name could mean two things",
    "put the table's name or alias in front: e.age",
)
NAME_NEEDED = Rule(
    "name_needed",
    "an output that is no column and no function needs a name",
    "age >= 60 AS senior, COUNT(*) AS n",
)
COMMON_TABLE_NAME = Rule(
    "common_table_name",
    "a common table expression has a name that no table and no other one has",
    "WITH first_visits AS (SELECT ...)",
)

# Unit keys: PRIVACY 1

NULLABLE_UNIT_KEY = Rule(
    "nullable_unit_key",
    "the unit key of a LEFT JOIN's right side can be NULL: it stands in ON, in COUNT, "
    "COUNT(DISTINCT) and IS NULL only",
    "use the unit key of the left side",
)

# Expressions

LIKE_PATTERN = Rule(
    "like_pattern",
    "a pattern is a string of up to 500 characters, with % for any text, _ for one "
    "character, and a backslash before %, _ or itself alone",
    "code LIKE 'E1_.%'",
)
IN_LIST_ITEM = Rule(
    "in_list_item", "an IN list holds literals", "code IN ('E10', 'E11')"
)
DIVISION = Rule(
    "division",
    "a division by 0 gives NULL in every row",
    "divide by a number that is not 0, or by a column: NULL where it is 0",
)
DECIMAL_PLACES = Rule(
    "decimal_places",
    "a decimal has at most 18 places: a product has those of both, a quotient six",
    "round an operand first: ROUND(weight, 2) * ROUND(dose, 2)",
)
NUMBER_NEEDED = Rule(
    "number_needed",
    "this function takes numbers",
    "ROUND(value, 1), ABS(change), FLOOR(age / 10); a date's is DATE_TRUNC('month', d)",
)
ROUND_PLACES = Rule(
    "round_places",
    "the places of ROUND and TRUNC are a whole number from -18 to 18",
    "ROUND(value, 1), or ROUND(age, -1) for tens; of a date DATE_TRUNC('month', d)",
)
POWER = Rule(
    "power",
    "POWER takes a whole exponent from 1 to 4",
    "POWER(height, 2)",
)
WIDTH_BUCKET = Rule(
    "width_bucket",
    "WIDTH_BUCKET takes a number, two numbers in ascending order, and how many "
    "buckets, 1 to 1,000",
    "WIDTH_BUCKET(value, 0, 100, 10)",
)
EXTREME = Rule(
    "extreme",
    "LEAST and GREATEST compare numbers, dates or times of one type",
    "LEAST(length_of_stay, 60)",
)
DATE_DIFF = Rule(
    "date_diff",
    "differences of two dates or timestamps are in days, weeks, months, quarters, "
    "years, hours, minutes or seconds",
    "DATE_DIFF('month', admitted, discharged)",
)
DATE_UNIT = Rule(
    "date_unit",
    "dates begin days, weeks, months, quarters and years",
    "DATE_TRUNC('month', admitted)",
)
DATE_FORMAT = Rule(
    "date_format",
    "the text of a date is made of YYYY, MM, DD, Q, IYYY, IW, FMDay, Dy, FMMonth, Mon "
    "or %Y, %m, %d, %Q, %G, %V, %A, %a, %B, %b with - / . , or a blank between",
    "TO_CHAR(admitted, 'YYYY-MM'), FORMAT_DATE('%A', admitted); hours and minutes of a "
    "timestamp are EXTRACT(HOUR FROM arrived), EXTRACT(MINUTE FROM arrived)",
)
AGE_YEARS = Rule(
    "age_years",
    "age_years takes a date of birth and a date",
    "age_years(born, DATE '2024-01-31')",
)
EXTRACT_OPERAND = Rule(
    "extract_operand",
    "dates and timestamps have parts; HOUR, MINUTE and SECOND need a timestamp",
    "EXTRACT(YEAR FROM admitted)",
)
HIERARCHY_NEEDED = Rule(
    "hierarchy_needed",
    "this function reads codes of a declared hierarchy",
    "see on the dataset's page which columns have one",
)
LEVEL = Rule(
    "level",
    "icd_chapter, icd_block and icd_category read ICD codes; level reads those "
    "of a custodian's own hierarchy",
    "icd_chapter(code), level(code, 'name')",
)
AGE_BAND = Rule(
    "age_band",
    "age_band takes integers of a declared range from 0 up, and a width from 1 to "
    "10,000",
    "age_band(age, 10)",
)
RESULT_TYPES = Rule(
    "result_types",
    "the results of CASE and COALESCE have one type",
    "CASE WHEN age >= 60 THEN 'old' ELSE 'young' END",
)
AVERAGE_OPAQUE = Rule(
    "average_opaque",
    "an exact average is compared with a number, and nothing else",
    "HAVING AVG(score) > 2.5; for more, roll up SUM and COUNT",
)
TOO_COMPLEX = Rule(
    "too_complex",
    "the SQL that the database gets for this condition would be too long",
    "compute its parts in a derived table first",
)

# FROM and joins: PRIVACY 1

PUBLIC_FIRST = Rule(
    "public_first",
    "FROM begins with a private table; a public one joins it",
    "FROM encounters JOIN codes ON codes.code = encounters.code",
)
JOIN_NEEDS_UNIT_KEY = Rule(
    "join_needs_unit_key",
    "private tables join on the unit key, as a condition of ON by itself",
    "USING (unit key)",
)
USING = Rule(
    "using",
    "USING names columns of both sides: the unit key of a private table among them",
    "USING (patient_id), or ON a.code = b.code AND ...",
)
PUBLIC_JOIN_KEY = Rule(
    "public_join_key",
    "a join with a public table equates its whole declared key",
    "ON codes.code = encounters.code",
)
RELATION_COUNT = Rule(
    "relation_count",
    "a query reads at most 32 tables, each common table as often as it is named",
    "ask in several queries",
)
EXISTS_COUNT = Rule(
    "exists_count",
    "a query has at most 10 EXISTS",
    "use IN (SELECT unit key ...), or one EXISTS with OR inside",
)
ROW_BOUND_TOO_LARGE = Rule(
    "row_bound_too_large",
    "one unit could have too many rows here",
    "roll up by the unit key before joining, or lower options.bounds.tables",
)
TOO_COSTLY = Rule(
    "too_costly",
    "this could take more work or memory than a question may",
    "roll up by the unit key before joining, use IN (SELECT unit key ...), lower "
    "options.bounds.tables (which drops rows), or ask in several queries",
)

# Below the top: PRIVACY 1

DISTINCT_BELOW = Rule(
    "distinct_below",
    "below the top, SELECT DISTINCT has the unit key among its columns",
    "SELECT DISTINCT patient_id, code",
)
GROUP_BY_UNIT = Rule(
    "group_by_unit",
    "below the top, GROUP BY has the unit key among its keys",
    "GROUP BY patient_id; what is computed of groups of all units stands at the top. "
    "Two counts of one key are one answer: SELECT sex, COUNT(*) FILTER (WHERE age < "
    "65) / COUNT(*) ... GROUP BY sex; of two tables, UNION ALL them with 1 and 0 in a "
    "column, and add that up; a rate with weights is 0.6 * AVG(x) FILTER (WHERE "
    "age < 65) + 0.4 * AVG(x) FILTER (WHERE age >= 65)",
)
HAVING = Rule("having", "HAVING needs GROUP BY", "write conditions on rows in WHERE")
UNION_COLUMNS = Rule(
    "union_columns",
    "the parts of a UNION ALL have as many columns, of the same types",
    "SELECT patient_id, day FROM a UNION ALL SELECT patient_id, day FROM b",
)
UNION_UNIT_KEY = Rule(
    "union_unit_key",
    "each part of a UNION ALL has the unit key once, in the same place, or none has",
    "SELECT patient_id, day FROM a UNION ALL SELECT patient_id, day FROM b",
)
SUBQUERY_TIE = Rule(
    "subquery_tie",
    "a subquery over private tables is tied to the outer row by the unit key",
    "EXISTS (SELECT * FROM a WHERE a.patient_id = e.patient_id AND ...)",
)
SUBQUERY_PLACE = Rule(
    "subquery_place",
    "IN (SELECT ...) and EXISTS stand in WHERE, CASE, and ON of an INNER JOIN",
    "write the condition in WHERE, or in a derived table",
)
IN_QUERY_UNIT = Rule(
    "in_query_unit",
    "IN (SELECT ...) over private tables compares unit keys",
    "patient_id IN (SELECT patient_id FROM diagnoses WHERE code = 'E11')",
)
IN_QUERY_ONE = Rule(
    "in_query_one",
    "IN (SELECT ...) selects one column",
    "code IN (SELECT code FROM codes WHERE chapter = 'IV')",
)
EXISTS_FORM = Rule(
    "exists_form",
    "EXISTS reads FROM and WHERE of one SELECT, without GROUP BY, HAVING, DISTINCT or "
    "aggregates",
    "EXISTS (SELECT * FROM a WHERE a.patient_id = e.patient_id)",
)
PUBLIC_QUERY = Rule(
    "public_query",
    "a subquery over public tables reads one table with WHERE",
    "code IN (SELECT code FROM codes WHERE chapter = 'IV')",
)
AGGREGATE_ARGUMENT = Rule(
    "aggregate_argument",
    "SUM, AVG and QUANTILE take numbers, BOOL_AND and BOOL_OR conditions",
    "SUM(days), BOOL_OR(age >= 60)",
)
ORDER_TERM = Rule(
    "order_term",
    "rows of one unit are ordered by values, not by positions",
    "ORDER BY admitted DESC",
)
WINDOW_PLACE = Rule(
    "window_place",
    "windows over one unit's rows stand in the SELECT list of a derived table",
    "FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY "
    "admitted) AS n FROM encounters) AS numbered WHERE n = 1",
)
WINDOW_PARTITION = Rule(
    "window_partition",
    "a window is partitioned by the unit key",
    "OVER (PARTITION BY patient_id ORDER BY admitted)",
)
WINDOW_FORM = Rule(
    "window_form",
    "this window function is written otherwise",
    "LAG(x), LEAD(x, 2), ROW_NUMBER(), COUNT(*), SUM(x), MIN(x), FIRST_VALUE(x)",
)
WINDOW_FRAME = Rule(
    "window_frame",
    "a frame goes from an earlier row to a later one",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
)

# At the top: PRIVACY 3

COUNT_ARGUMENTS = Rule(
    "count_arguments",
    "COUNT takes *, an expression over columns, or DISTINCT and one",
    "COUNT(*), COUNT(score), COUNT(DISTINCT patient_id)",
)
NO_BOUNDS = Rule(
    "no_bounds",
    "SUM, AVG and QUANTILE need declared bounds",
    "use a column with a declared range, bound it, GREATEST(LEAST(x, 60), 0), or count "
    "rows",
)
ZERO_SENSITIVITY = Rule(
    "zero_sensitivity",
    "the declarations already say that this is 0: there is nothing to measure",
    "leave it out",
)
QUANTILE = Rule(
    "quantile",
    "QUANTILE takes an expression, a number between 0 and 1, and perhaps a number of "
    "bins from 2 to 1024",
    "QUANTILE(age, 0.9), QUANTILE(age, 0.9, 128), MEDIAN(age)",
)
HAVING_FORM = Rule(
    "having_form",
    "HAVING and ORDER BY at the top speak of keys, aggregates, arithmetic on them and "
    "literals",
    "HAVING COUNT(*) > 100 ORDER BY n DESC",
)
COMPUTED_OPERAND = Rule(
    "computed_operand",
    "arithmetic on results takes numbers: counts, sums, averages, quantiles, keys that "
    "are numbers, and literals",
    "100.0 * SUM(CASE WHEN age >= 60 THEN 1 ELSE 0 END) / COUNT(*) AS percent",
)
COMPUTED_FORM = Rule(
    "computed_form",
    "results are added, subtracted, multiplied and divided, and taken by ROUND, FLOOR, "
    "CEIL, TRUNC, ABS, GREATEST, LEAST, COALESCE, NULLIF, LN, EXP and SQRT",
    "ROUND(100.0 * COUNT(age) / COUNT(*), 1) AS percent",
)
COMPUTED_SIZE = Rule(
    "computed_size",
    "one computed column holds at most 40 operations",
    "show its parts as columns, and compute the rest from the answer",
)
ANSWER_WINDOW = Rule(
    "answer_window",
    "over the answer's rows there are SUM, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE, "
    "LAG, LEAD, ROW_NUMBER, RANK and DENSE_RANK, of numbers; all but the first four "
    "need ORDER BY, and the last five have no frame",
    "SUM(COUNT(*)) OVER (ORDER BY year), LAG(COUNT(*)) OVER (ORDER BY year)",
)
ANSWER_WINDOW_ORDER = Rule(
    "answer_window_order",
    "windows over the answer's rows have keys in PARTITION BY, and in ORDER BY unless "
    "they are RANK, DENSE_RANK or ROW_NUMBER: noise may not choose what is added",
    "SUM(COUNT(*)) OVER (PARTITION BY sex ORDER BY year)",
)
ANSWER_WINDOW_ROWS = Rule(
    "answer_window_rows",
    "with windows over the answer's rows, HAVING speaks of keys: noise may not choose "
    "which rows are added",
    "leave HAVING out, and choose from the answer",
)
ANSWER_WINDOW_SIZE = Rule(
    "answer_window_size",
    "an answer with windows over its rows has at most 1,000 cells",
    "group more coarsely, or add up the answer's rows yourself",
)
DIVISION_BY_ZERO = Rule(
    "division_by_zero",
    "a result divided by 0 is always NULL",
    "divide by another result or number: COUNT(*) / 10",
)
ROUND_DIGITS = Rule(
    "round_digits",
    "ROUND of a result keeps a number of digits from 0 to 12, written out",
    "ROUND(AVG(age), 1)",
)
RESULTS_ONLY = Rule(
    "results_only",
    "this function takes results, not the values of a row",
    "LN(COUNT(*)); of a row's values it is not in the language",
)


SYNTAX = Rule(
    "syntax", "the text cannot be read as SQL here", f"a query reads: {SHAPE}"
)
EMPTY_TEXT = Rule("empty_text", "the text is empty", f"a query reads: {SHAPE}")
OPEN_QUOTE = Rule("open_quote", "the quote never ends", "close it; '' is a quote in it")
OPEN_COMMENT = Rule("open_comment", "the comment never ends", "close it with */")
UNKNOWN_COLUMN = Rule(
    "unknown_column", "no column has this name", "see the dataset's page"
)
NO_PUBLIC_DOMAIN = Rule(
    "no_public_domain",
    "this column has no declared list of values to group by",
    "name the values in WHERE, code IN ('E11.9', 'I10'), or in CASE, CASE WHEN code IN "
    "('E11.9', 'I10') THEN code ELSE 'rest' END; or group by a column that has a list; "
    "where the dataset's page names a hierarchy of it, by icd_chapter(code), "
    "icd_category(code) or level(code, 'name')",
)
ANSWER_SIZE = Rule(
    "answer_size",
    "an answer holds at most 100,000 numbers: its cells times its columns",
    "select fewer columns or group by fewer keys: ask in several queries",
)
TOO_MANY_GROUPS = Rule(
    "too_many_groups",
    "an answer holds at most 10,000 cells",
    "group by fewer keys, or by keys with fewer values: LEAST(GREATEST(hours, 0), 12), "
    "WIDTH_BUCKET(cost, 0, 100, 10), or WHERE says which values the key itself has",
)


RULES: Mapping[str, Rule] = {
    value.name: value for value in tuple(vars().values()) if isinstance(value, Rule)
}
