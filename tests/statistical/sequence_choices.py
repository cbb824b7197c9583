"""Questions about sequences of which noise chooses what is shown, with exact answers.

HAVING, LIMIT and TOP_RUNS show what estimates choose, a branch of a tree what passed a
threshold. Beside them stand sums of such nodes that a reader names.
"""

from collections import Counter

import numpy as np

from query_lang.reading.parse import parse_query
from release.sequences.questions.browsing import branch

_MOST_GROUPS = 10_000
_NULL = -1


class Choices:
    """All such questions to logs of one shape."""

    def __init__(self, log, most, *, branches=6, kinds=None):
        """Take questions to logs of one shape.

        Args:
            log: Of sequences.
            most: h.
            branches: Below how many first symbols, the most and the least frequent.
            kinds: Which classes are asked for in SQL; None: all.
        """
        self.log, self.most = log, most
        self.rows = log.cut(most)
        self.lengths = np.minimum(log.lengths, most)
        self._counts = {}
        firsts = np.bincount(self.rows[:, 0], minlength=log.alphabet)
        order = np.argsort(-firsts, kind="stable").tolist()
        half = branches // 2
        self._firsts = sorted({*order[:half], *order[-half:]})
        self._asked = [
            asked for asked in self._questions() if kinds is None or asked[0] in kinds
        ]

    def ask(self, asked):
        """Yield (class, value, low, high, truth) of each number of a release."""
        for kind, tree, truth in self._asked:
            answer = asked.ask(tree)
            for row, (low, high) in zip(
                answer.rows, answer.intervals[0].rows, strict=True
            ):
                yield kind, float(row[-1]), float(low), float(high), truth(row[:-1])
        for prefix in ((), *((first,) for first in self._firsts)):
            yield from self._of_branch(asked.tree, prefix, None)
            for group in range(self.log.splits if self.log.splits > 1 else 0):
                yield from self._of_branch(asked.tree, prefix, group)

    # -- exact answers -----------------------------------------------------------

    def _at(self, *places):
        """Return how many units have which symbols at places; -1 past the last."""
        if places not in self._counts:
            columns = self.rows[:, [place - 1 for place in places]]
            self._counts[places] = Counter(map(tuple, columns.tolist()))
        return self._counts[places]

    def _having(self, cells, *places):
        return self._at(*places)[tuple(_NULL if c is None else c for c in cells)]

    def _occurrences(self, run):
        size = len(run)
        windows = [self.rows[:, k : k + size] for k in range(self.most - size + 1)]
        return sum(int((window == run).all(axis=1).sum()) for window in windows)

    # -- questions ---------------------------------------------------------------

    def _questions(self):
        yield from self._grouped((1,))
        yield from self._grouped((2,))
        if (self.log.alphabet + 1) ** 2 <= _MOST_GROUPS:
            yield from self._grouped((1, 2))
        for first in self._firsts:
            yield from self._below(first)
        for sizes in ("10, 1, 3", "10, 2, 2", "50, 1, 2"):
            sql = f"SELECT TOP_RUNS({sizes}) FROM r"
            yield "TOP_RUNS", _parsed(sql), self._of_shown
        for symbol in range(0, self.log.alphabet, max(1, self.log.alphabet // 25)):
            own = int((self.rows == symbol).any(axis=1).sum())
            sql = f"SELECT COUNT(*) AS n FROM r WHERE HAS_RUN({symbol})"
            yield "HAS_RUN", _parsed(sql), lambda _, own=own: own
            sql = f"SELECT OCCURRENCES({symbol}) AS n FROM r"
            yield "runs", _parsed(sql), lambda _, run=(symbol,): self._occurrences(run)

    def _grouped(self, places):
        def truth(cells):
            return self._having(cells, *places)

        keys = ", ".join(f"SYMBOL_AT({place})" for place in places)
        shown = ", ".join(f"SYMBOL_AT({place}) AS k{place}" for place in places)
        sql = f"SELECT {shown}, COUNT(*) AS n FROM r GROUP BY {keys}"
        yield "GROUP BY", _parsed(sql), truth
        many = f"{len(places)} keys"
        for least in (0, 20):
            yield f"HAVING, {many}", _parsed(f"{sql} HAVING COUNT(*) > {least}"), truth
        for most in (3, 10):
            limited = f"{sql} ORDER BY n DESC LIMIT {most}"
            yield f"LIMIT, {many}", _parsed(limited), truth

    def _below(self, first):
        def truth(cells):
            return self._having((first, *cells), 1, 2)

        key, where = "SYMBOL_AT(2)", f"SYMBOL_AT(1) = {first}"
        sql = f"SELECT {key}, COUNT(*) AS n FROM r WHERE {where} GROUP BY {key}"
        yield "GROUP BY", _parsed(sql), truth
        yield "HAVING, WHERE", _parsed(f"{sql} HAVING COUNT(*) > 0"), truth
        limited = f"{sql} ORDER BY n DESC LIMIT 10"
        yield "LIMIT, WHERE", _parsed(limited), truth
        for second in (0, self.log.alphabet // 2, self.log.alphabet - 1):
            starts = f"STARTS_WITH({first}, {second})"
            asked = _parsed(f"SELECT COUNT(*) AS n FROM r WHERE {starts}")
            own = self._having((first, second), 1, 2)
            yield "STARTS_WITH", asked, lambda _, own=own: own

    def _of_shown(self, cells):
        return self._occurrences(tuple(int(symbol) for symbol in cells[0].split(" > ")))

    # -- the tree ----------------------------------------------------------------

    def _of_branch(self, tree, prefix, group):
        """Yield the children of a path, those that are joined as ``rest`` last.

        Of all groups together, ``rest`` holds what is a child in other groups.
        """
        depth = len(prefix) + 1
        begun = (self.rows[:, : depth - 1] == prefix).all(axis=1)
        if group is not None:
            begun &= self.log.groups == group
        own = self.rows[begun]
        nexts = Counter(own[:, len(prefix)].tolist())
        left = sum(nexts.values())
        for child in branch(tree, prefix, group).children:
            if child.kind == "rest" and group is None and self.log.splits > 1:
                continue
            code = _NULL if child.kind == "end" else child.symbol
            exact = left if child.kind == "rest" else nexts[code]
            left -= exact
            value, width = child.count.value, child.count.half_width
            kind = "rest" if child.kind == "rest" else "children"
            yield (
                f"tree, {kind} {depth}",
                value,
                max(value - width, 0.0),
                value + width,
                exact,
            )


def _parsed(sql):
    return parse_query(sql, sequences=True)
