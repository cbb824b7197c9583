"""Which rule refuses which sqlglot node or argument, and the words that show it."""

from collections.abc import Mapping

from query_lang import rules
from query_lang.rules import RULES, Rule

_BY_RULE: Mapping[str, tuple[str, str]] = {
    # rule: (nodes and arguments of sqlglot, words of the text that mark the place)
    "common_table_expression": ("with_ CTE With", "WITH"),
    "set_operation": ("Union Intersect Except SetOperation", "UNION INTERSECT EXCEPT"),
    "subquery": ("Subquery Select Exists query field unnest", "EXISTS"),
    "join": ("joins laterals Join Lateral", "JOIN LATERAL"),
    "distinct": ("distinct", "DISTINCT"),
    "having": ("having", "HAVING"),
    "order_by": ("order sort cluster distribute Order", "ORDER SORT CLUSTER"),
    "limit": ("limit offset Limit Offset Fetch", "LIMIT OFFSET FETCH"),
    "sample": ("sample TableSample", "TABLESAMPLE SAMPLE"),
    "window": ("windows Window WindowSpec", "OVER WINDOW"),
    "qualify": ("qualify", "QUALIFY"),
    "grouping_sets": (
        "rollup cube grouping_sets all totals Rollup Cube GroupingSets",
        "ROLLUP CUBE GROUPING",
    ),
    "clause": (
        "into locks match connect prewhere settings format kind hint pivots columns",
        "INTO FOR",
    ),
    "star": ("Star except_ replace rename ilike", ""),
    "min_max": ("Min Max ArgMin ArgMax", ""),
    "count_arguments": ("Distinct", ""),
    "aggregate_filter": ("Filter", "FILTER"),
    "arithmetic": ("Neg Add Sub Mul Div IntDiv Mod Pow Interval DPipe", ""),
    "case": ("Case If", "CASE IF"),
    "like": (
        "Like ILike SimilarTo RegexpLike RegexpILike Glob Escape",
        "LIKE ILIKE SIMILAR GLOB",
    ),
    "is_distinct_from": ("NullSafeEQ NullSafeNEQ", ""),
    "tuple": ("Tuple", ""),
    "any_all": ("Any All", "ANY ALL"),
    "cast": ("Cast TryCast", "CAST TRY_CAST"),
    "string_concatenation": ("Concat", ""),
}
_RULES: Mapping[str, tuple[Rule, frozenset[str]]] = {
    name: (RULES[rule], frozenset(words.split()))
    for rule, (names, words) in _BY_RULE.items()
    for name in names.split()
}


def rule_of(
    name: str, *, otherwise: Rule = rules.CONSTRUCT
) -> tuple[Rule, frozenset[str]]:
    """Return the rule for a node class or argument, and its words in the text.

    >>> rule_of("limit")[0].name
    'limit'
    """
    return _RULES.get(name, (otherwise, frozenset()))
