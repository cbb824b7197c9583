"""Every rule that refuses a query: its name, what is wrong, the nearest allowed form.

docs/query-language.md has a line for each name; a test holds that.
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
    "an IN list holds at most 256 items",
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
    "only CAST(x AS DATE) of a timestamp is in the language",
    "write literals in the column's type: admitted >= DATE '2024-01-31'",
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
    "quoted names are written exactly as declared, in lower case",
)


RECURSIVE = Rule(
    "recursive",
    "WITH RECURSIVE is not allowed",
    "name each step: WITH a AS (SELECT ...), b AS (SELECT ... FROM a)",
)
MATERIALIZED = Rule(
    "materialized",
    "MATERIALIZED is not in the language",
    "WITH a AS (SELECT ...)",
)
COLUMN_LIST = Rule(
    "column_list",
    "a table's alias takes no list of columns",
    "name each column in the SELECT list: SELECT age AS years",
)
WITH_PLACE = Rule(
    "with_place",
    "WITH stands at the beginning of the query only",
    "move it to the front: later tables may read earlier ones",
)
SET_OPERATION = Rule(
    "set_operation",
    "UNION ALL stands in derived tables and WITH only; UNION, INTERSECT and EXCEPT "
    "nowhere",
    "FROM (SELECT ... UNION ALL SELECT ...) AS both",
)
SCALAR_SUBQUERY = Rule(
    "scalar_subquery",
    "a subquery is no value",
    "join a derived table, or use IN (SELECT ...) or EXISTS (SELECT ...)",
)
JOIN = Rule(
    "join",
    "a join is INNER or LEFT and has ON or USING",
    "JOIN patients AS p ON p.patient_id = e.patient_id",
)
COMMA_JOIN = Rule(
    "comma_join",
    "tables are not joined by commas",
    "JOIN patients AS p ON p.patient_id = e.patient_id",
)
RIGHT_JOIN = Rule(
    "right_join", "RIGHT JOIN is not allowed", "change sides and write LEFT JOIN"
)
FULL_JOIN = Rule(
    "full_join",
    "FULL JOIN is not allowed",
    "LEFT JOIN from the table that holds every unit",
)
CROSS_JOIN = Rule(
    "cross_join",
    "CROSS JOIN would pair rows of different units",
    "JOIN patients AS p ON p.patient_id = e.patient_id",
)
NATURAL_JOIN = Rule(
    "natural_join", "NATURAL JOIN is not allowed", "JOIN patients USING (patient_id)"
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
    "LATERAL is not allowed",
    "join a derived table that does not read the other side",
)
DISTINCT = Rule(
    "distinct",
    "SELECT DISTINCT is not allowed at the top",
    "use GROUP BY: every declared group comes back once",
)
DISTINCT_ON = Rule(
    "distinct_on",
    "DISTINCT ON is not allowed",
    "number the rows by ROW_NUMBER in a derived table and keep those numbered 1",
)
ORDER_BY = Rule(
    "order_by",
    "ORDER BY takes expressions, at the top of the query",
    "move it to the end of the query, or use ROW_NUMBER in a derived table",
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
    "this stands over no window",
    "aggregates, ROW_NUMBER, LAG, LEAD, FIRST_VALUE and LAST_VALUE do",
)
WINDOW_NEEDED = Rule(
    "window_needed",
    "this function stands over a window",
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY admitted)",
)
NAMED_WINDOW = Rule(
    "named_window",
    "windows have no names",
    "write the window itself: OVER (PARTITION BY patient_id)",
)
FRAME = Rule(
    "frame",
    "a frame is ROWS without EXCLUDE and does not end before it begins; RANGE and "
    "GROUPS are not allowed",
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
)
RANK = Rule(
    "rank",
    "windows number rows by ROW_NUMBER only",
    "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY admitted)",
)
QUALIFY = Rule(
    "qualify",
    "QUALIFY is not allowed",
    "put the window in a derived table and the condition in WHERE",
)
GROUPING_SETS = Rule(
    "grouping_sets",
    "ROLLUP, CUBE, GROUPING SETS and GROUP BY ALL are not allowed",
    "name the columns: GROUP BY sex, age",
)
FROM_CLAUSE = Rule(
    "from_clause",
    "FROM names a declared table, a table of WITH, or a derived table",
    "FROM encounters AS e",
)
DERIVED_TABLE_NAME = Rule(
    "derived_table_name",
    "a derived table needs a name",
    "FROM (SELECT ...) AS first_visits",
)
QUALIFIED_TABLE = Rule(
    "qualified_table",
    "a table has no schema or catalogue in front of it",
    "write its declared name alone: FROM encounters",
)
CLAUSE = Rule("clause", "this clause is not in the language", f"a query reads: {SHAPE}")


STAR = Rule(
    "star",
    "rows never leave: * stands in COUNT(*) and EXISTS (SELECT * ...) only",
    "select keys and aggregates: SELECT sex, COUNT(*)",
)
COUNT_DISTINCT_COLUMN = Rule(
    "count_distinct_column",
    "COUNT(DISTINCT) counts the unit key only in this version",
    "COUNT(DISTINCT unit key), or GROUP BY the column",
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
    "ask for a quantile: QUANTILE(age, 0.99)",
)
AGGREGATE_DISTINCT = Rule(
    "aggregate_distinct",
    "DISTINCT stands in COUNT(DISTINCT x) only",
    "take distinct values in a derived table: SELECT DISTINCT patient_id, code",
)
AGGREGATE_FILTER = Rule(
    "aggregate_filter",
    "FILTER on an aggregate is not allowed",
    "write the condition in WHERE",
)
ORDER_IN_CALL = Rule(
    "order_in_call",
    "ORDER BY stands in FIRST and LAST only",
    "FIRST(code ORDER BY admitted)",
)
FIRST_LAST_ORDER = Rule(
    "first_last_order",
    "FIRST and LAST need an order",
    "FIRST(code ORDER BY admitted)",
)
WITHIN_GROUP = Rule(
    "within_group", "WITHIN GROUP is not allowed", "write QUANTILE(age, 0.9)"
)
IGNORE_NULLS = Rule(
    "ignore_nulls",
    "IGNORE NULLS and RESPECT NULLS are not allowed: NULLs count",
    "filter first, in a derived table: WHERE code IS NOT NULL",
)
AGGREGATE_PLACE = Rule(
    "aggregate_place",
    "an aggregate stands in the SELECT list, by itself",
    "SELECT COUNT(*) AS n FROM encounters",
)
FUNCTION = Rule(
    "function",
    "this function is not in the language",
    "see the list of functions in the reference",
)
EXTRACT_PART = Rule(
    "extract_part",
    "EXTRACT takes YEAR, QUARTER, MONTH, DAY, ISODOW or HOUR",
    "EXTRACT(YEAR FROM admitted)",
)
ARITHMETIC = Rule(
    "arithmetic",
    "arithmetic is + - * on integers, and days added to dates",
    "age + 1, admitted + 90, discharged - admitted",
)
OPERATOR = Rule(
    "operator",
    "this operator is not in the language",
    "use + - * and a / NULLIF(b, 0)",
)
INTERVAL = Rule(
    "interval",
    "intervals are not in the language",
    "add days to a date, admitted + 90, or use DATE_DIFF('month', a, b)",
)
CASE = Rule(
    "case",
    "IF is not in the language",
    "CASE WHEN age >= 60 THEN 'old' ELSE 'young' END",
)
LIKE = Rule(
    "like",
    "LIKE compares text with a pattern",
    "code LIKE 'E11%'",
)
PATTERN = Rule(
    "pattern",
    "ILIKE, SIMILAR TO, GLOB, regular expressions and ESCAPE are not allowed",
    "use LIKE with 'x%', '%x' or '%x%'",
)
IS_DISTINCT_FROM = Rule(
    "is_distinct_from",
    "IS DISTINCT FROM is not allowed",
    "use = or <>, and IS NULL for missing values",
)
IS_TRUE = Rule(
    "is_true",
    "IS TRUE and IS FALSE are not allowed",
    "write the boolean column itself, or NOT and the column",
)
IS_NULL_OPERAND = Rule(
    "is_null_operand",
    "IS NULL asks about a column",
    "age IS NULL",
)
ANY_ALL = Rule(
    "any_all", "ANY and ALL are not allowed", "use IN with a list or a subquery"
)
TUPLE = Rule(
    "tuple", "a list in brackets stands after IN only", "code IN ('E10', 'E11')"
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
    "a comparison has a column and a literal, or two columns",
    "age >= 60, admitted <= discharged",
)
CONDITION = Rule(
    "condition",
    "a condition is a comparison, BETWEEN, IN, IS NULL or a boolean column",
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
    "a query reads a private table",
    "public tables can be read on the dataset's page",
)
UNIT_KEY_OPAQUE = Rule(
    "unit_key_opaque",
    "the unit key is never compared, shown or grouped by",
    "count it: COUNT(DISTINCT unit key)",
)
NULL_LITERAL = Rule(
    "null_literal",
    "NULL equals nothing, not even NULL",
    "use IS NULL or IS NOT NULL",
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
    "a selected column is a key of GROUP BY",
    "add it to GROUP BY",
)
KEY_NOT_SELECTED = Rule(
    "key_not_selected", "every key is selected", "add the key to the SELECT list"
)
GROUP_BY_FORM = Rule(
    "group_by_form",
    "GROUP BY takes columns, aliases of columns, and positions of columns",
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
    "use it in WHERE, or group by a column that has one",
)
TOO_MANY_GROUPS = Rule(
    "too_many_groups",
    "an answer holds at most 10,000 cells",
    "group by fewer keys, or by keys with fewer values",
)


RULES: Mapping[str, Rule] = {
    value.name: value for value in tuple(vars().values()) if isinstance(value, Rule)
}
