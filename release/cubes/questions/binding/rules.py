"""Every rule that refuses a question to a release, beside those of the language.

docs/querying-releases.md has a line for each name; a test holds that.
"""

from typing import Final

from query_lang.syntax.rules import Rule
from release.contract.answers import ONE_RELEASE

RELEASE_COUNTS: Final = Rule(
    "release_counts",
    "a release answers counts, and SUM and AVG of its dimensions",
    "use COUNT(*); for a share AVG(CASE WHEN ... THEN 1 ELSE 0 END)",
)
DISTINCT_UNITS: Final = Rule(
    "distinct_units",
    "this sum of cells can count somebody more than once",
    "use COUNT(*), which says so, or group by the dimensions that vary within one "
    "unit, or hold each of them to one value",
)
ROWS_COUNTED: Final = Rule(
    "rows_counted",
    "this release counts rows, and cannot tell whose they are",
    "use COUNT(*)",
)
FINER_VALUES: Final = Rule(
    "finer_values",
    "the dimension's values do not say what is asked of them",
    "ask for the dimension itself or for something wider: a chapter of blocks, a year "
    "of months, bands made of whole bands",
)
ABSENT_VALUE: Final = Rule(
    "absent_value",
    "a dimension is compared with a value that it does not have",
    "compare it with a value that it has",
)
CELL_MASK: Final = Rule(
    "cell_mask",
    "a condition on several dimensions at once needs a cube of at most 20,000,000 "
    "cells",
    "join conditions on one dimension each by AND, or ask in several questions",
)
MANY_ROLLS: Final = Rule(
    "many_rolls",
    "keys of several dimensions span more than 64 values",
    "group by the dimensions themselves",
)
MANY_VALUES: Final = Rule(
    "many_values",
    "SUM and AVG here would add up more than 1,000,000 numbers",
    "sum over fewer groups, or over a dimension with fewer values",
)
MANY_COMBINATIONS: Final = Rule(
    "many_combinations",
    "an expression reads several dimensions together that have more than 250,000 "
    "combinations of values",
    "write conditions on one dimension each, joined by AND and OR, or narrow what one "
    "expression reads",
)
MUCH_WORK: Final = Rule(
    "much_work",
    "the question passes over more than 200,000,000 cells of the release, or shows "
    "more than 200,000 values",
    "ask for fewer aggregates at once, or group by the dimensions themselves",
)
TOO_LONG: Final = Rule(
    "too_long",
    "the question takes more than 1,500,000,000 steps, counted from its text and from "
    "the release's dimensions and parts",
    "ask in several smaller questions",
)

RULES: Final = (
    ONE_RELEASE,
    RELEASE_COUNTS,
    DISTINCT_UNITS,
    ROWS_COUNTED,
    FINER_VALUES,
    ABSENT_VALUE,
    CELL_MASK,
    MANY_ROLLS,
    MANY_VALUES,
    MANY_COMBINATIONS,
    MUCH_WORK,
    TOO_LONG,
)
