"""Statistical de-identification: spans become what an anonymized view has of them.

Sources: Gardner 2012 (HIDE), 2.1 and chapter 5: the view is made k-anonymous, and what
it has of a patient stands in his texts. Li and Qin 2017 (DAST): patients are clustered
by their texts, and each value becomes the list of those of the cluster.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.copies.choosing import USUAL
from upstream.anonymization.copies.given import Method, given_table, made_table
from upstream.anonymization.copies.measuring import measures_of
from upstream.anonymization.declared.columns import QuasiIdentifier
from upstream.anonymization.declared.values import Located, generalized_column
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.texts.declared_statistical import Statistical
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.views import View
from upstream.trajectories.dast.drilling import drill_down
from upstream.trajectories.dast.enumeration import Record, Row, profile_size
from upstream.trajectories.dast.partition import Halving, partition
from upstream.trajectories.dast.safety import average_risk, unique_share
from upstream.trajectories.dast.terms import term_matrix

Document = dict[str, object]
NOT_SAID = "not said"
"""The value of a patient whose texts say none: a category of its own."""


@dataclass(frozen=True, slots=True)
class Generalized:
    """What stands for patients' values.

    Attributes:
        texts: By patient, by kind: what is written instead of what spans write.
        measures: What was lost and is risked.
    """

    texts: Mapping[str, Mapping[Kind, Mapping[str, str]]]
    measures: Document


class StatisticalView:
    """A view, and how it is generalized."""

    def __init__(
        self,
        view: View,
        told: Statistical,
        terms: Sequence[Sequence[str]],
        located: Located,
    ) -> None:
        """Take what is generalized.

        Args:
            view: A row a patient.
            told: What was declared.
            terms: By patient: the words of his texts, spans left out; of ``dast``.
            located: Returns where a hierarchy's file lies.

        Raises:
            HierarchyError: Values are not what was declared.
        """
        self._view, self._told = view, told
        specs = {Kind(name): spec for name, spec in told.quasi_identifiers.items()}
        self._made = (
            _Lists(view, specs, terms, located)
            if told.method == "dast"
            else _Ranges(view, specs, located)
        )

    def generalized(self) -> Generalized:
        """Return what stands for each patient's values.

        Raises:
            UnreachableError: There are too few patients.
        """
        published, measures = self._made.published(self._told.k)
        texts: dict[str, dict[Kind, dict[str, str]]] = {}
        for at, patient in enumerate(self._view.patients):
            own = texts[patient] = {}
            for kind, column in published.items():
                forms = self._view.written[at][kind]
                own[kind] = dict.fromkeys(forms, f"[{kind.value} {column[at]}]")
        return Generalized(texts, measures)

    def choices(self) -> Iterator[Document]:
        """Yield what each k would lose and risk."""
        for k in sorted({self._told.k, *USUAL}):
            if k <= len(self._view.patients) or k == self._told.k:
                yield self._choice(k)

    def _choice(self, k: int) -> Document:
        try:
            return {"k": k, "is_possible": True, **self._made.published(k)[1]}
        except UnreachableError:
            return {"k": k, "is_possible": False}


class _Ranges:
    """Classes of patients who are alike in their values (Mondrian)."""

    def __init__(
        self, view: View, specs: Mapping[Kind, QuasiIdentifier], located: Located
    ) -> None:
        self._kinds = tuple(specs)
        columns = {kind.value: view.columns[kind] for kind in specs}
        declared = {kind.value: spec for kind, spec in specs.items()}
        self._given = given_table(columns, (declared, {}), None, (Method(), located))

    def published(self, k: int) -> tuple[dict[Kind, list[str]], Document]:
        table = made_table(self._given, k, Method()).table
        told = measures_of(self._given, table, k).document()
        measures = {name: told[name] for name in _MEASURES}
        return {
            kind: [text or NOT_SAID for text in table.values(kind.value)]
            for kind in self._kinds
        }, measures


_MEASURES = ("classes", "gcp", "lm", "prosecutor", "marketer", "precision")


class _Lists:
    """Clusters of patients whose texts are alike (DAST)."""

    def __init__(
        self,
        view: View,
        specs: Mapping[Kind, QuasiIdentifier],
        terms: Sequence[Sequence[str]],
        located: Located,
    ) -> None:
        self._kinds = tuple(specs)
        columns = [
            _grains(kind.value, spec, view.columns[kind], located)
            for kind, spec in specs.items()
        ]
        self._records: list[Record] = list(zip(*columns, strict=True))
        self._matrix = term_matrix(terms)

    def published(self, k: int) -> tuple[dict[Kind, list[str]], Document]:
        if len(self._records) < k:
            principle = f"{k}-safety of {len(self._records)} patients"
            raise UnreachableError(principle)
        clusters = partition(self._matrix, Halving(least=k))
        rows = drill_down(self._records, clusters, k)
        return {
            kind: [_listed(row[at]) for row in rows]
            for at, kind in enumerate(self._kinds)
        }, _measured(self._records, rows, len(clusters))


def _measured(
    records: Sequence[Record], rows: Sequence[Row], clusters: int
) -> Document:
    values = [len(listed) for row in rows for listed in row]
    return {
        "clusters": clusters,
        "mean_profiles": round(float(np.mean([profile_size(row) for row in rows])), 4),
        "single_values": round(float(np.mean([one == 1 for one in values])), 4),
        "average_risk": round(average_risk(records, rows), 4),
        "unique": round(unique_share(records, rows), 4),
    }


def _listed(values: frozenset[str]) -> str:
    return " | ".join(sorted(values))


def _grains(
    name: str, spec: QuasiIdentifier, values: Sequence[str | None], located: Located
) -> list[str]:
    """Return values in the narrowest grain that is declared; as they are if in none."""
    if getattr(spec, "kind", "") == "category" or getattr(spec, "widths", None) == ():
        return [NOT_SAID if value is None else value for value in values]
    column = generalized_column(name, spec, values, located)
    levels = np.full(len(values), min(1, column.domain.height))
    texts = column.domain.texts_at(levels, column.codes)
    return [
        NOT_SAID if value is None else str(text)
        for value, text in zip(values, texts, strict=True)
    ]
