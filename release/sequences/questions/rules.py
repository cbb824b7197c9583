"""Every rule that refuses a question to a release of sequences.

Beside those of the language and of ``release.cubes.questions.binding.rules``.
docs/querying-releases.md has a line for each name; a test holds that.
"""

from typing import Final

from query_lang.syntax.rules import Rule

SEQUENCE_COUNTS: Final = Rule(
    "sequence_counts",
    "a release of sequences answers COUNT(*), OCCURRENCES and TOP_RUNS",
    "write SELECT COUNT(*) AS n FROM the release's name WHERE HAS_RUN('a', 'b')",
)
SEQUENCE_CONDITION: Final = Rule(
    "sequence_condition",
    "this is no condition on sequences",
    "use STARTS_WITH, ENDS_WITH, HAS_RUN, FIRST_THEN, SYMBOL_AT(3) = 'a', "
    "LENGTH() >= 3, SLOPE() > 0.5, or the column that splits the release",
)
SEQUENCE_KEY: Final = Rule(
    "sequence_key",
    "a release of sequences cannot be grouped by this",
    "group by SYMBOL_AT(1), LENGTH(), SLOPE_BAND(0.5), or the column that splits "
    "the release",
)
SEQUENCE_ORDER: Final = Rule(
    "sequence_order",
    "HAVING and ORDER BY speak of keys, COUNT(*), OCCURRENCES and columns' names",
    "write HAVING COUNT(*) > 100 ORDER BY n DESC; conditions on sequences stand in "
    "WHERE",
)
SYMBOLS_LISTED: Final = Rule(
    "symbols_listed",
    "between the brackets stand symbols of the release, as literals",
    "write HAS_RUN('a', 'b'); the release's page lists its symbols",
)
UNKNOWN_SYMBOL: Final = Rule(
    "unknown_symbol",
    "this is none of the values that the release declares",
    "see the release's page for its symbols",
)
PAST_LENGTH: Final = Rule(
    "past_length",
    "the release looks at fewer symbols of each sequence",
    "ask within the maximal length, which the release's page tells",
)
WHOLE_NUMBER: Final = Rule(
    "whole_number",
    "here a whole number stands",
    "write SYMBOL_AT(3), LENGTH() >= 3, TOP_RUNS(10, 2, 3)",
)
SLOPE_OF_ORDER: Final = Rule(
    "slope_of_order",
    "the symbols have no order, so a sequence has no slope",
    "ask for runs, or for symbols at places",
)
SLOPE_BOUND: Final = Rule(
    "slope_bound",
    "a slope is compared with a number of at most six decimals",
    "write SLOPE() >= 0.5",
)
MANY_BANDS: Final = Rule(
    "many_bands",
    "bands this narrow would be more than 400",
    "take wider bands",
)
TOP_RUNS_ALONE: Final = Rule(
    "top_runs_alone",
    "TOP_RUNS stands alone: its rows are runs",
    "write SELECT TOP_RUNS(10, 2, 3) FROM the release's name",
)
TOP_RUNS_SIZE: Final = Rule(
    "top_runs_size",
    "TOP_RUNS(k, shortest, longest) takes 1 to 500 runs of 1 symbol or more, the "
    "shortest first",
    "write TOP_RUNS(10, 2, 3)",
)
MUCH_WORK: Final = Rule(
    "sequence_work",
    "conditions and keys together pass over more than 50,000,000 nodes",
    "ask in several smaller questions",
)

RULES: Final = (
    SEQUENCE_COUNTS,
    SEQUENCE_CONDITION,
    SEQUENCE_KEY,
    SEQUENCE_ORDER,
    SYMBOLS_LISTED,
    UNKNOWN_SYMBOL,
    PAST_LENGTH,
    WHOLE_NUMBER,
    SLOPE_OF_ORDER,
    SLOPE_BOUND,
    MANY_BANDS,
    TOP_RUNS_ALONE,
    TOP_RUNS_SIZE,
    MUCH_WORK,
)
