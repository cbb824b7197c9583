"""Statistical de-identification: spans become what an anonymized view has of them.

Sources: Gardner 2012 (HIDE), 2.1 and chapter 5: the view is made k-anonymous, and what
it has of a patient stands in his texts. Li and Qin 2017 (DAST): patients are clustered
by their texts, and each value becomes the list of those of the cluster.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from upstream.anonymization.arrays import Text
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
            ValueError: Lists are too long, or too many values are told apart.
        """
        published, measures = self._made.published(self._told.k)
        texts: dict[str, dict[Kind, dict[str, str]]] = {}
        for at, patient in enumerate(self._view.patients):
            own = texts[patient] = {}
            for kind, column in published.items():
                forms = () if column[at] is None else self._view.written[at][kind]
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
        except (UnreachableError, ValueError):
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

    def published(self, k: int) -> tuple[dict[Kind, list[Text]], Document]:
        table = made_table(self._given, k, Method()).table
        told = measures_of(self._given, table, k).document()
        measures = {name: told[name] for name in _MEASURES}
        return {kind: table.values(kind.value) for kind in self._kinds}, measures


_MEASURES = ("classes", "gcp", "lm", "prosecutor", "marketer", "precision")


class _Lists:
    """Clusters of patients whose texts are alike (DAST).

    Which kinds a patient's texts say shows in them. So patients of whom they say the
    same kinds are generalized apart; of fewer than k such patients nothing is written.
    """

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
        self._alike: dict[tuple[bool, ...], list[int]] = defaultdict(list)
        for at, record in enumerate(self._records):
            self._alike[tuple(value != NOT_SAID for value in record)].append(at)

    def published(self, k: int) -> tuple[dict[Kind, list[Text]], Document]:
        found: dict[Kind, list[Text]] = {
            kind: [None] * len(self._records) for kind in self._kinds
        }
        measured: list[tuple[int, Document]] = []
        for group in self._alike.values():
            if len(group) < k:
                continue
            records = [self._records[at] for at in group]
            clusters = partition(self._matrix[group], Halving(least=k))
            rows = drill_down(records, clusters, k)
            measured.append((len(group), _measured(records, rows, len(clusters))))
            for at, row in zip(group, rows, strict=True):
                for kind, listed in zip(self._kinds, row, strict=True):
                    found[kind][at] = " | ".join(sorted(listed))
        if not measured:
            principle = f"{k}-safety of {len(self._records)} patients"
            raise UnreachableError(principle)
        return found, self._together(measured)

    def _together(self, measured: Sequence[tuple[int, Document]]) -> Document:
        """Return clusters added up, and the means over patients of all else."""
        told = sum(count for count, _ in measured)
        withheld = 1 - told / len(self._records)
        means = {
            name: round(sum(n * float(str(one[name])) for n, one in measured) / told, 4)
            for name in measured[0][1]
            if name != "clusters"
        }
        clusters = sum(int(str(one["clusters"])) for _, one in measured)
        return {"clusters": clusters, **means, "withheld": round(withheld, 4)}


def _measured(
    records: Sequence[Record], rows: Sequence[Row], clusters: int
) -> Document:
    values = [len(listed) for row in rows for listed in row]
    return {
        "clusters": clusters,
        "mean_profiles": float(np.mean([profile_size(row) for row in rows])),
        "single_values": float(np.mean([one == 1 for one in values])),
        "average_risk": average_risk(records, rows),
        "unique": unique_share(records, rows),
    }


def _grains(
    name: str, spec: QuasiIdentifier, values: Sequence[Text], located: Located
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
