"""What operations of the engine take, in steps and bytes: upper bounds.

A step is one nanosecond of one engine thread. Each number was measured with
``python -m benchmarks.costs.plans`` on DuckDB 2.0.0 (a virtual machine of 2 cores at
about 3 GHz, processor time of one thread), then rounded up so that no plan of that
benchmark takes more than is predicted.
"""

from typing import Final

# -- statements ------------------------------------------------------------------------

STATEMENT_STEPS: Final = 10_000_000
"""Binding and starting one statement."""

TEXT_STEPS: Final = 9_000
"""Binding and optimizing, a byte of SQL."""

STATEMENT_BYTES: Final = 8 * 2**20
"""What one statement holds beside rows."""

FETCHED_ROW_STEPS: Final = 1_500
"""A row of the result, read into Python and laid out over cells."""

FETCHED_KEY_STEPS: Final = 200
FETCHED_VALUE_STEPS: Final = 1_200
"""A key or a measured value of such a row; sums have 128 bits."""

CELL_STEPS: Final = 500
"""A cell of the answer, whether or not a row fills it."""

FETCHED_ROW_BYTES: Final = 300

# -- rows and values -------------------------------------------------------------------

READ_ROW_STEPS: Final = 3
READ_VALUE_STEPS: Final = 4
EACH_STEPS: Final = 4
"""A value made for its own row (COALESCE with NULL), most where it is NULL."""

BYTES_A_STEP: Final = 2
"""Bytes of a text that are read, copied, hashed or compared in one step."""

LONG_TEXT_BYTES: Final = 4_096
"""Longer texts are read from pages of their own: each byte takes a step more."""

ROW_BYTES: Final = 24
"""What a row that is kept holds beside its values: hash, validity, pointers."""

ROWS_A_VECTOR: Final = 2_048

VECTOR_ROWS: Final = 2 * ROWS_A_VECTOR
"""Rows whose texts are unpacked at once: a vector of each thread."""

NUMBER_BYTES: Final = 8
TEXT_BYTES: Final = 16
"""Of a text's reference; texts of up to 12 bytes lie inside it."""

# -- expressions -----------------------------------------------------------------------

VALUE_STEPS: Final = 2
SIMPLE_STEPS: Final = 8
WIDE_STEPS: Final = 50
"""Arithmetic in 128 bits, clamped."""

DIVIDE_STEPS: Final = 800
"""Division in 128 bits: a step for each bit of the dividend, 63 at most."""

ARITHMETIC_BYTES: Final = 2 * 400 * 2**10
"""What an arithmetic expression, or one of dates, keeps for vectors of each thread."""

DATE_STEPS: Final = 25
AGE_STEPS: Final = 70
BAND_STEPS: Final = 200
ITEM_STEPS: Final = 2
"""An item of an IN list, beside the bytes compared."""

SEARCHED_BYTE_STEPS: Final = 20
"""LIKE '%x%' on texts that nearly match everywhere, a byte (measured up to 15)."""

READ_TEXT_STEPS: Final = 1_000
READ_BYTE_STEPS: Final = 30
"""A text that is read as another type, and each byte of it."""

WRITE_TEXT_STEPS: Final = 500
"""A number, date or moment that is written as a text."""

FOLD_STEPS: Final = 1_500
FOLDED_BYTE_STEPS: Final = 25
"""A text whose letters are made capital or small, and each byte of it."""

TRIM_STEPS: Final = 200
TRIMMED_BYTE_STEPS: Final = 12
"""A text whose blanks are cut."""

PART_STEPS: Final = 200
PARTED_BYTE_STEPS: Final = 3
"""A part of a text, or how long it is."""

REPLACE_STEPS: Final = 500
REPLACED_BYTE_STEPS: Final = 30
"""A text parts of which are replaced."""

MATCH_STEPS: Final = 1_000
MATCHED_BYTE_STEPS: Final = 30
"""A text that is held against a pattern whose states are made, and each byte of it."""

READ_ON_STEPS: Final = 600
LIVE_STEPS: Final = 12
"""A step from state to state that is made, with its state, when it is first taken, and
each instruction that it copies: each byte of one unit's texts may need another
(``python -m benchmarks.costs.patterns``)."""

WRITTEN_STEPS: Final = 3_000
"""Kind of bytes in a pattern's program, which is written before anything is read."""

LEVEL_STEPS: Final = 1_500
"""A level of a built-in code system."""

DOT_STEPS: Final = 60
"""A dot that is left out of an own hierarchy's code (measured up to 51)."""

CODE_STEPS: Final = 12
"""An own hierarchy's code, passed while one is looked for."""

# -- joins and groups ------------------------------------------------------------------

JOIN_ROW_STEPS: Final = 65
"""A row that is put into a hash table or looked up in one."""

JOIN_VALUE_STEPS: Final = 7
PAIR_STEPS: Final = 6
"""Two rows that meet in a join."""

PAIR_VALUE_STEPS: Final = 2
JOIN_ROW_BYTES: Final = 48
"""A row's place in the table of a join, at the least load."""

RUN_STEPS: Final = 16
"""A row of a unit that a further row walks past in a hash table, where the unit's
values have hashes that end alike (measured up to 16, of 4 to 64 rows)."""

KEYED_STEPS: Final = 12
"""The keyed hash of a number or date, made and looked up, a row (measured 6 to 11)."""

LISTED_STEPS: Final = 3
"""Likewise of a listed text, for each of the list (measured 1 to 2)."""

KEYED_TEXT_STEPS: Final = 350
KEYED_BYTE_STEPS: Final = 3
"""Likewise of a text, and each byte of it: MD5 (measured 230 to 430, and 2.6)."""

HALF_PAIR_STEPS: Final = 8
"""Two rows that meet in a join that keeps or drops one of them."""

LONE_PAIR_STEPS: Final = 400
"""A row that one row alone of its vector still meets: outer joins, and those that keep
or drop a row, look at the next row of all chains at once, as long as any goes on."""

LONE_OPERATOR_STEPS: Final = 500
"""An operator of what is asked of such a pair: a vector's fixed cost for one row
(``python -m benchmarks.costs.lone``)."""

LOOP_PAIR_STEPS: Final = 8
"""Likewise, where no equality leads from one to the other."""

NUMBERED_ROW_STEPS: Final = 100
"""A row that is numbered and kept, to be read twice."""

GROUP_ROW_STEPS: Final = 25
GROUP_VALUE_STEPS: Final = 12
AGGREGATE_STEPS: Final = 10
CLAMP_STEPS: Final = 20
"""A value that is held within the bounds of its sum."""

NEW_GROUP_STEPS: Final = 150
"""A row that begins a group."""

GROUP_BYTES: Final = 56
STATE_BYTES: Final = 24
HISTOGRAM_STEPS: Final = 150
HISTOGRAM_BIT_STEPS: Final = 6
"""The bin of a value, and a bit of what is divided in 128 bits to find it."""

TEXT_STATE_STEPS: Final = 500
TEXT_STATE_BYTE_STEPS: Final = 4
"""A text that becomes the least or greatest of its group, and each byte of it."""

TEXT_STATE_COPIES: Final = 2
"""A text that is kept for a group lies in the next power of two of its bytes."""

WIDE_ROW_BYTES: Final = 256
TEXT_SHARE: Final = 4
"""Pages of wider rows take more than the rows: one part in so many."""

DISTINCT_ROW_STEPS: Final = 100
LEAST_STEPS: Final = 200
"""The least of compound identities, a row."""

ORDERED_ROW_STEPS: Final = 100
"""FIRST and LAST of an order, a row."""

ORDERED_GROUP_BYTES: Final = 200
ORDERED_BYTE_STEPS: Final = 2
"""A byte of the texts of one FIRST or LAST, its own and those of its order, a row."""

KEPT_BYTE_STEPS: Final = 4
"""Such a byte as a group keeps it."""

# -- what the first rows begin ---------------------------------------------------------

STARTED_GROUPS: Final = 500_000
STARTED_KEY: Final = 60_000
"""A table of groups, and each of its keys."""

STARTED_AGGREGATE: Final = 20_000
"""A function of a group."""

STARTED_CHOICE: Final = 150_000
"""A FIRST or LAST of a group."""

STARTED_DISTINCT: Final = 700_000
"""A table of distinct values."""

STARTED_ORDER: Final = 400_000
STARTED_TERM: Final = 20_000
STARTED_COLUMN: Final = 40_000
"""An order, each of its terms, and each column that is carried through it."""

STARTED_ITEM: Final = 120_000
STARTED_FRAME: Final = 300_000
"""A window function, and one over a part of its partition."""

ORDER_BINS: Final = 64
"""Partitions are put into so many bins at most: each that is not empty is sorted."""

BIN_STEPS: Final = 100_000
BIN_TERM_STEPS: Final = 8_000
"""A bin that is not empty, and each term of its order."""

STARTED_JOIN: Final = 400_000
"""Each side of a join: what it holds is never empty, what it looks up may be."""

TABLE_BYTES: Final = 9 * 2**19
TABLE_TEXT_BYTES: Final = 2**22
"""Pages of a table that a join holds: one for each of 16 parts, once a row lies in it;
as many again for its texts. Measured by ``python -m benchmarks.costs.memory``, as are
the next."""

GROUPS_BYTES: Final = 3 * 2**20
"""Pages of a table of groups, and of its keys' texts."""

CHOICE_BYTES: Final = 2**17
"""What a FIRST or LAST keeps its values in."""

DISTINCT_BYTES: Final = 2**22
"""Pages of a table of distinct values, and of their texts."""

ORDER_BYTES: Final = 9 * 2**19
ORDER_TEXT_BYTES: Final = 2**22
"""Pages of an order: one for each of its bins, and as many for texts."""

NEXT_ORDER_BYTES: Final = 9 * 2**18
"""Pages of each further order of the same rows: those of the one before are let go."""

STARTED_ARITHMETIC: Final = 100_000
"""An expression whose vectors the engine fetches anew, however many rows there are."""

# -- windows ---------------------------------------------------------------------------

WINDOW_ROW_STEPS: Final = 150
WINDOW_VALUE_STEPS: Final = 15
SORT_STEPS: Final = 12
"""A row's place in an order, a doubling of the number of rows."""

SORT_TERM_STEPS: Final = 100
"""A term of a row's key, whatever its type: it is written, and read again."""

SORTED_BYTE_STEPS: Final = 3
"""A byte of a row's texts that is carried through an order."""

SORTED_BYTES_SHARE: Final = 4
"""An order's pages take more than its rows: one part in so many."""

SORT_KEY_SHARE: Final = 2
"""Likewise of its keys: all terms of a row, one after the other, as one text."""

SORT_KEY_BYTE_STEPS: Final = 4
"""A byte of a key's texts that is written, carried and compared with the next."""

SORT_TERM_BYTES: Final = 2
"""What a term of a key takes beside its value: whether it is NULL, where it ends."""

SORT_TEXT_STEPS: Final = 40
SORT_TEXT_BYTES_A_STEP: Final = 32
"""A text that is compared in an order, a doubling of the number of rows."""

WINDOW_ITEM_STEPS: Final = 60
ONE_SIDED_FRAME_STEPS: Final = 200
FRAME_STEPS: Final = 130
"""A frame with two ends, a doubling of its rows."""

FRAME_TEXT_SHARE: Final = 4
"""The least or greatest texts of parts of frames are kept: one part in so many."""

# -- sequences -------------------------------------------------------------------------

MARK_STEPS: Final = 100
"""A symbol's character made and put into its unit's text."""

MARK_BYTES: Final = 4
