"""Statistical de-identification: spans become what an anonymized view has of them.

Sources: Gardner 2012 (HIDE), 2.1 and chapter 5: the view is made k-anonymous, and what
it has of a patient stands in his texts. Li and Qin 2017 (DAST): patients are clustered
by their texts, and each value becomes the list of those of the cluster.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from upstream.anonymization.arrays import Text
from upstream.anonymization.copies.choosing import USUAL, tried_ks
from upstream.anonymization.copies.given import (
    GivenTable,
    Method,
    given_table,
    made_table,
)
from upstream.anonymization.copies.measuring import measures_of
from upstream.anonymization.declared.columns import (
    Category,
    FromFile,
    Number,
    QuasiIdentifier,
)
from upstream.anonymization.declared.values import Located, generalized_column
from upstream.anonymization.errors import UnreachableError
from upstream.anonymization.hierarchies.files import read_hierarchy
from upstream.anonymization.texts.declared_statistical import Statistical
from upstream.anonymization.texts.kinds import Kind
from upstream.anonymization.texts.views import Shown, View, normal_text
from upstream.trajectories.dast.drilling import drill_down
from upstream.trajectories.dast.enumeration import Record, Row, profile_size
from upstream.trajectories.dast.partition import Halving, partition
from upstream.trajectories.dast.safety import average_risk, unique_share
from upstream.trajectories.dast.terms import term_matrix

Document = dict[str, object]
_LISTED = 5  # of the usual k: longer lists take minutes
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
        specs = {Kind(name): spec for name, spec in told.quasi_identifiers.items()}
        columns = {
            kind: _listed(spec, view.columns[kind], located)
            for kind, spec in specs.items()
        }
        view = replace(view, columns=columns)
        self._view, self._told = view, told
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
                is_said = self._view.columns[kind][at] is not None
                is_told = is_said and column[at] is not None
                forms = self._view.written[at][kind] if is_told else ()
                own[kind] = dict.fromkeys(forms, f"[{kind.value} {column[at]}]")
        return Generalized(texts, measures)

    def choices(self) -> Iterator[Document]:
        """Yield what each k would lose and risk."""
        tried = USUAL if self._told.method == "mondrian" else USUAL[:_LISTED]
        for k in tried_ks(self._told.k, len(self._view.patients), tried):
            yield self._choice(k)

    def _choice(self, k: int) -> Document:
        try:
            return {"k": k, "is_possible": True, **self._made.published(k)[1]}
        except (UnreachableError, ValueError):
            return {"k": k, "is_possible": False}


def _listed(
    spec: QuasiIdentifier, values: Sequence[Text], located: Located
) -> Sequence[Text]:
    """Return values as an order or a file writes them, whatever their case.

    What is in neither is None, and so is tagged: texts say much.
    """
    if isinstance(spec, FromFile):
        known: Sequence[Text] = read_hierarchy(located(spec.file), spec.file).labels[0]
    elif isinstance(spec, Category) and spec.order:
        known = spec.order
    else:
        return values
    told = {normal_text(one): one for one in known if one is not None}
    return [None if value is None else told.get(value) for value in values]


class _Ranges:
    """Classes of patients who are alike in their values (Mondrian)."""

    def __init__(
        self, view: View, specs: Mapping[Kind, QuasiIdentifier], located: Located
    ) -> None:
        self._kinds = tuple(specs)
        declared = {kind.value: spec for kind, spec in specs.items()}
        self._groups = [
            (
                group,
                given_table(
                    {
                        kind.value: [view.columns[kind][at] for at in group]
                        for kind in specs
                    },
                    (declared, {}),
                    None,
                    (Method(), located),
                ),
            )
            for group in _alike(view, self._kinds)
        ]

    def published(self, k: int) -> tuple[dict[Kind, list[Text]], Document]:
        return _together(
            self._kinds,
            k,
            [(group, self._made(given, k)) for group, given in self._groups],
        )

    def _made(self, given: GivenTable, k: int) -> "_Part | None":
        if given.people < k:
            return None
        table = made_table(given, k, Method()).table
        told = measures_of(given, table, k).document()
        values = [table.values(kind.value) for kind in self._kinds]
        return values, {name: told[name] for name in _OF_RANGES}


_OF_RANGES = ("classes", "gcp", "lm", "prosecutor", "marketer")
_ADDED = frozenset({"classes", "clusters"})
_LARGEST = frozenset({"prosecutor"})
_Part = tuple[Sequence[Sequence[Text]], Document]
"""What is published of a group, by kind, by patient; and its measures."""


def _alike(view: View, kinds: Sequence[Kind]) -> list[list[int]]:
    """Return groups of patients whose texts show these kinds in the same ways.

    Whether a kind is said at all, and whether a value or a tag stands for it, shows in
    a text. So nobody is hidden among others of whom it shows otherwise: who says a
    value that no order lists is not like those who say nothing.
    """
    found: dict[tuple[Shown, ...], list[int]] = defaultdict(list)
    for at in range(len(view.patients)):
        found[tuple(view.shows(kind, at) for kind in kinds)].append(at)
    return list(found.values())


def _together(
    kinds: Sequence[Kind], k: int, parts: Sequence[tuple[list[int], _Part | None]]
) -> tuple[dict[Kind, list[Text]], Document]:
    """Return groups as one: of those without a part nothing is published.

    Raises:
        UnreachableError: No group has one.
    """
    patients = sum(len(group) for group, _ in parts)
    columns: dict[Kind, list[Text]] = {kind: [None] * patients for kind in kinds}
    measured: list[tuple[int, dict[str, float]]] = []
    for group, part in parts:
        if part is None:
            continue
        values, told = part
        measured.append((len(group), {n: float(str(v)) for n, v in told.items()}))
        for kind, held in zip(kinds, values, strict=True):
            for at, text in zip(group, held, strict=True):
                columns[kind][at] = text
    if not measured:
        principle = f"{k} patients of whom texts say the same kinds, or tag them"
        raise UnreachableError(principle)
    shown = sum(count for count, _ in measured)
    document: Document = {}
    for name in measured[0][1]:
        every = [one[name] for _, one in measured]
        mean = sum(count * one[name] for count, one in measured) / shown
        chosen = max(every) if name in _LARGEST else round(mean, 4)
        document[name] = int(sum(every)) if name in _ADDED else chosen
    return columns, {**document, "withheld": round(1 - shown / patients, 4)}


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
        self._groups = _alike(view, self._kinds)

    def published(self, k: int) -> tuple[dict[Kind, list[Text]], Document]:
        return _together(
            self._kinds, k, [(group, self._made(group, k)) for group in self._groups]
        )

    def _made(self, group: list[int], k: int) -> _Part | None:
        if len(group) < k:
            return None
        records = [self._records[at] for at in group]
        clusters = partition(self._matrix[group], Halving(least=k))
        rows = drill_down(records, clusters, k)
        values = [
            [" | ".join(sorted(listed)) for listed in column]
            for column in zip(*rows, strict=True)
        ]
        return values, _measured(records, rows, len(clusters))


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
    if isinstance(spec, Category) or (isinstance(spec, Number) and not spec.widths):
        return [NOT_SAID if value is None else value for value in values]
    column = generalized_column(name, spec, values, located)
    levels = np.full(len(values), min(1, column.domain.height))
    texts = column.domain.texts_at(levels, column.codes)
    return [
        NOT_SAID if value is None else str(text)
        for value, text in zip(values, texts, strict=True)
    ]
