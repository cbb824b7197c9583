"""Records of a DuckDB connection compared and scored, pair by pair."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np

from upstream.linkage.blocking.blocks import Blocked
from upstream.linkage.blocking.passes import passes_of
from upstream.linkage.blocking.report import BlockingReport
from upstream.linkage.comparing.comparisons import comparisons_of
from upstream.linkage.comparing.vectors import code_name, codes_sql
from upstream.linkage.declared import LinkageSpec
from upstream.linkage.records import Decision, ScoredPair, Step
from upstream.linkage.scoring.learning import estimated
from upstream.linkage.scoring.pairs import (
    begin_pairs,
    collect_pairs,
    count_pairs,
    end_pairs,
    given_pairs_sql,
    new_pairs_sql,
)
from upstream.linkage.scoring.parameters import Parameters
from upstream.linkage.scoring.preparing import prepare, values_of
from upstream.linkage.scoring.reporting import report_of
from upstream.linkage.scoring.samples import Codes
from upstream.linkage.scoring.summing import summed
from upstream.linkage.scoring.thresholds import ENOUGH, choose
from upstream.linkage.scoring.weighing import similarity_sql, weighed_sql, weight_name

RESERVED = frozenset({"number", "source", "id", "key", "is_here"})
"""What every record has beside its fields: its unit key, too."""

Tell = Callable[[str, int, int | None], None]


class FieldNameError(ValueError):
    """A field is called as a column that every record has."""


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is known of ``compared``: its passes, and how many values a field has."""

    blocked: Sequence[Blocked]
    values: dict[str, int]


def _tell_nobody(_phase: str, _done: int, _whole: int | None) -> None:
    """Tell nobody how far it has come."""


class Scoring:
    """Compares and scores the records of a table ``record`` of a DuckDB connection.

    ``record`` has ``number`` INTEGER from 1, ``source`` VARCHAR, and a VARCHAR of each
    field, as it was written, or NULL. The same records and declaration bring the same
    parameters and the same pairs, with any number of threads. What is asked before
    ``prepare`` prepares first.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        spec: LinkageSpec,
        *,
        threads: int = 2,
        tell: Tell = _tell_nobody,
    ) -> None:
        """Check the declaration.

        Args:
            connection: It holds ``record``; its memory limit is the caller's.
            spec: What is declared.
            threads: Of the database.
            tell: Called with a phase, what is done and of how much.

        Raises:
            FieldNameError: A field is called as what every record has.
            BlockingError: A key of blocking is none.
        """
        if taken := sorted(RESERVED & spec.fields.keys()):
            message = f"a field cannot be called {taken[0]}: every record has that"
            raise FieldNameError(message)
        self._connection = connection
        self._spec = spec
        self._tell = tell
        self._comparisons = comparisons_of(spec)
        self._passes = passes_of(spec)
        self._known: _Prepared | None = None
        self._matches: list[tuple[int, int]] = []
        connection.execute(
            f"SET threads TO {int(threads)}; SET enable_progress_bar = false"
        )

    def prepare(self) -> None:
        """Normalise ``record`` into a table ``compared``, which is made again."""
        self._tell("normalise", 0, None)
        blocked = prepare(self._connection, self._spec, self._passes)
        self._known = _Prepared(blocked, values_of(self._connection, self._spec))

    def _prepared(self) -> _Prepared:
        if self._known is None:
            self.prepare()
        assert self._known is not None  # noqa: S101 - prepare has set it
        return self._known

    def learn(self, labelled: Sequence[Decision] = ()) -> Parameters:
        """Return the parameters that pairs are scored by.

        Labelled matches are counted with those that EM finds, and thresholds are chosen
        by the labelled pairs, if there are ``ENOUGH`` (20) of both kinds; otherwise
        they are as usual. What is declared holds.
        """
        prepared = self._prepared()
        self._tell("learn", 0, None)
        self._matches = [(one.left, one.right) for one in labelled if one.is_match]
        is_enough = ENOUGH <= len(self._matches) <= len(labelled) - ENOUGH
        if self._spec.method.kind == "weighted_sum":
            parameters = summed(self._spec, self._comparisons)
        else:
            codes = self._codes(self._matches if is_enough else [])
            parameters = estimated(
                self._connection, self._spec, self._comparisons, prepared.blocked, codes
            )
        return self._told(parameters, labelled) if is_enough else parameters

    def _codes(self, pairs: Sequence[tuple[int, int]]) -> Codes:
        """Return the codes of pairs, a row a pair."""
        names = ", ".join(code_name(each.field) for each in self._comparisons)
        given = given_pairs_sql(self._connection, pairs)
        found = self._connection.execute(
            f"SELECT {names} FROM ({codes_sql(self._comparisons, given)})"  # noqa: S608 - names are quoted
        ).fetchall()
        shape = (len(found), len(self._comparisons))
        return np.array(found, dtype=np.uint8).reshape(shape)

    def _told(self, parameters: Parameters, labelled: Sequence[Decision]) -> Parameters:
        """Return the parameters with the thresholds that labelled pairs tell."""
        said = {(one.left, one.right): one.is_match for one in labelled}
        scored = self.score_pairs(parameters, list(said))
        chosen = choose(
            self._spec, [(one.score, said[one.left, one.right]) for one in scored]
        )
        return replace(
            parameters,
            link=chosen.thresholds.link,
            review=chosen.thresholds.review,
            found={**parameters.found, "thresholds": chosen.how},
        )

    def score(self, parameters: Parameters, since: int = 1) -> int:
        """Remake table ``pair`` of the pairs that blocking brings; return how many.

        It has ``left``, ``right``, ``score``, ``weight`` and ``differs`` of those whose
        score is ``review`` or above. Pairs within a source of ``once`` are not
        compared.

        Args:
            parameters: What they are scored by.
            since: The right record's smallest number: pairs of older ones were
                compared before.
        """
        self._prepared()
        begin_pairs(self._connection)
        compared = 0
        for place in range(len(self._passes)):
            self._tell("score", place, len(self._passes))
            pairs = new_pairs_sql(place, self._spec.once, since)
            collect_pairs(
                self._connection, self._weighed(parameters, pairs), parameters.review
            )
            compared += count_pairs(self._connection, pairs)
        end_pairs(self._connection)
        self._tell("score", len(self._passes), len(self._passes))
        return compared

    def _weighed(self, parameters: Parameters, pairs: str) -> str:
        """Return a query of pairs with their scores."""
        values = self._prepared().values
        return weighed_sql(parameters, self._comparisons, values, pairs)

    def score_pairs(
        self, parameters: Parameters, pairs: Sequence[tuple[int, int]]
    ) -> list[ScoredPair]:
        """Return scores of any pairs, also of those that no pass brings together.

        They come once each, ordered by their numbers; a pair of a record that is not
        there is left out.
        """
        self._prepared()
        query = self._weighed(parameters, given_pairs_sql(self._connection, pairs))
        found = self._connection.execute(
            'SELECT "left", "right", "is:score", "is:weight", "is:differs" '  # noqa: S608 - names are quoted
            f'FROM ({query}) ORDER BY "left", "right"'
        ).fetchall()
        return [ScoredPair(*each) for each in found]

    def steps(self, parameters: Parameters, left: int, right: int) -> list[Step]:
        """Return what each field says of a pair.

        The prior's weight and theirs, added in this order, are the pair's weight.

        Raises:
            KeyError: One of the records is not there.
        """
        found = self.steps_of(parameters, [(left, right)])
        if not found:
            raise KeyError((left, right))
        return found[left, right]

    def steps_of(
        self, parameters: Parameters, pairs: Sequence[tuple[int, int]]
    ) -> dict[tuple[int, int], list[Step]]:
        """Return what each field says of many pairs, by the pairs.

        A pair of a record that is not there is left out.
        """
        self._prepared()
        each = ", ".join(
            f"{code_name(c.field)}, {similarity_sql(c)}, {weight_name(c.field)}"
            for c in self._comparisons
        )
        given = given_pairs_sql(self._connection, pairs)
        found = self._connection.execute(
            f'SELECT "left", "right", {each} '  # noqa: S608 - names are quoted
            f"FROM ({self._weighed(parameters, given)})"
        ).fetchall()
        return {(row[0], row[1]): self._steps(row[2:]) for row in found}

    def _steps(self, told: Sequence[Any]) -> list[Step]:
        """Return the steps of a pair: code, similarity and weight of each field."""
        steps = []
        for place, comparison in enumerate(self._comparisons):
            code, similarity, weight = told[3 * place : 3 * place + 3]
            names = ["missing", *(level.name for level in comparison.levels)]
            steps.append(Step(comparison.field, names[code], similarity, weight))
        return steps

    def blocking(self) -> BlockingReport:
        """Return what each pass brings together, and what all may have missed."""
        blocked = self._prepared().blocked
        return report_of(self._connection, blocked, self._spec.once, self._matches)
