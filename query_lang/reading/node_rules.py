"""Which rule refuses which sqlglot node or argument, and the words that show it."""

from collections.abc import Mapping

from query_lang.syntax import rules
from query_lang.syntax.rules import RULES, Rule

_BY_RULE: Mapping[str, tuple[str, str]] = {
    # rule: (nodes and arguments of sqlglot, words of the text that mark the place)
    "set_operation": (
        "Union Intersect Except SetOperation by_name",
        "UNION INTERSECT EXCEPT",
    ),
    "scalar_subquery": ("Subquery Select", ""),
    "join": ("joins Join", ""),
    "lateral_join": ("laterals Lateral", "LATERAL"),
    "distinct": ("distinct", "DISTINCT"),
    "order_by": ("order sort cluster distribute Var", "ORDER SORT CLUSTER"),
    "order_in_call": ("Order Ordered", "ORDER"),
    "limit": ("limit Limit Fetch", "LIMIT FETCH"),
    "offset": ("offset Offset", "OFFSET"),
    "sample": ("sample TableSample", "TABLESAMPLE SAMPLE"),
    "window": ("Window WindowSpec", "OVER"),
    "qualify": ("qualify", "QUALIFY"),
    "grouping_sets": (
        "rollup cube grouping_sets totals Rollup Cube GroupingSets",
        "ROLLUP CUBE GROUPING",
    ),
    "clause": (
        "into locks match connect prewhere settings format kind hint pivots columns",
        "INTO FOR PIVOT UNPIVOT",
    ),
    "star": ("Star except_ replace rename ilike", ""),
    "aggregate_distinct": ("Distinct", ""),
    "aggregate_filter": ("Filter", "FILTER"),
    "within_group": ("WithinGroup", "WITHIN"),
    "ignore_nulls": ("IgnoreNulls RespectNulls", "IGNORE RESPECT"),
    "operator": (
        (
            "IntDiv Pow BitwiseAnd BitwiseOr BitwiseXor BitwiseNot "
            "BitwiseLeftShift BitwiseRightShift Collate AtTimeZone"
        ),
        "COLLATE AT",
    ),
    "interval": ("Interval", ""),
    "pattern": (
        "RegexpFullMatch Glob Escape",
        "GLOB ESCAPE",
    ),
    "tuple": ("Tuple", ""),
    "any_all": ("Any All", "ANY ALL SOME"),
    "cast": ("Cast TryCast PostfixCast", ""),
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
