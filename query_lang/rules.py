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
    "values are never cast",
    "write literals in the column's type: d >= '2024-01-31'",
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


COMMON_TABLE_EXPRESSION = Rule(
    "common_table_expression",
    "WITH is not answered in this version",
    "ask over one table: FROM encounters",
)
SET_OPERATION = Rule(
    "set_operation",
    "UNION, INTERSECT and EXCEPT are not answered in this version",
    "ask each SELECT by itself",
)
SUBQUERY = Rule(
    "subquery",
    "subqueries are not answered in this version",
    "write the condition in WHERE: code IN ('E10', 'E11')",
)
JOIN = Rule(
    "join",
    "joins and comma lists are not answered in this version",
    "ask over one table: FROM encounters",
)
DISTINCT = Rule(
    "distinct",
    "SELECT DISTINCT is not allowed at the top",
    "use GROUP BY: every declared group comes back once",
)
HAVING = Rule(
    "having",
    "HAVING is not answered in this version",
    "every group comes back; filter the answer",
)
ORDER_BY = Rule(
    "order_by",
    "ORDER BY is not answered in this version",
    "groups come in declared order; sort the answer",
)
LIMIT = Rule(
    "limit",
    "LIMIT, OFFSET and FETCH are not answered in this version",
    "every group comes back; cut the answer",
)
SAMPLE = Rule("sample", "sampling is not allowed", "ask over the whole table")
WINDOW = Rule(
    "window",
    "windows are not answered in this version",
    "use COUNT(*) or COUNT(DISTINCT unit key) with GROUP BY",
)
QUALIFY = Rule(
    "qualify",
    "QUALIFY is not allowed",
    "write conditions on rows in WHERE",
)
GROUPING_SETS = Rule(
    "grouping_sets",
    "ROLLUP, CUBE, GROUPING SETS and GROUP BY ALL are not allowed",
    "name the columns: GROUP BY sex, age",
)
FROM_CLAUSE = Rule(
    "from_clause",
    "FROM names one declared table, with or without an alias",
    "FROM encounters AS e",
)
QUALIFIED_TABLE = Rule(
    "qualified_table",
    "a table has no schema or catalogue in front of it",
    "write its declared name alone: FROM encounters",
)
CLAUSE = Rule("clause", "this clause is not in the language", f"a query reads: {SHAPE}")


STAR = Rule(
    "star",
    "rows never leave: * stands in COUNT(*) only",
    "select keys and aggregates: SELECT sex, COUNT(*)",
)
COUNT_COLUMN = Rule(
    "count_column",
    "COUNT of a column is not answered in this version",
    "use COUNT(*) with WHERE column IS NOT NULL",
)
COUNT_DISTINCT_COLUMN = Rule(
    "count_distinct_column",
    "COUNT(DISTINCT) counts the unit key only in this version",
    "COUNT(DISTINCT unit key), or GROUP BY the column",
)
COUNT_ARGUMENTS = Rule(
    "count_arguments",
    "COUNT takes * or DISTINCT and the unit key",
    "COUNT(*) or COUNT(DISTINCT unit key)",
)
AGGREGATE = Rule(
    "aggregate",
    "this aggregate is not answered in this version",
    "use COUNT(*) or COUNT(DISTINCT unit key)",
)
MIN_MAX = Rule(
    "min_max",
    "MIN and MAX would show one row's value",
    "count rows beyond a threshold: COUNT(*) with WHERE age >= 90",
)
AGGREGATE_FILTER = Rule(
    "aggregate_filter",
    "FILTER on an aggregate is not allowed",
    "write the condition in WHERE",
)
AGGREGATE_PLACE = Rule(
    "aggregate_place",
    "an aggregate stands in the SELECT list, by itself",
    "SELECT COUNT(*) AS n FROM encounters",
)
FUNCTION = Rule(
    "function",
    "this function is not in the language",
    "compare columns with literals: age >= 60",
)
ARITHMETIC = Rule(
    "arithmetic",
    "arithmetic is not answered in this version",
    "compare a column with a number: age >= 60 (a string holds a date)",
)
CASE = Rule(
    "case",
    "CASE and IF are not answered in this version",
    "write the condition in WHERE, or group by a declared column",
)
LIKE = Rule(
    "like",
    "LIKE and other patterns are not answered in this version",
    "list the values: code IN ('E10', 'E11')",
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
ANY_ALL = Rule("any_all", "ANY and ALL are not allowed", "use IN with a list")
TUPLE = Rule(
    "tuple", "a list in brackets stands after IN only", "code IN ('E10', 'E11')"
)
EMPTY_LIST = Rule("empty_list", "an IN list needs an item", "code IN ('E10', 'E11')")
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
