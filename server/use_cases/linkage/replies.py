"""Linkages as they are sent to custodians."""

from typing import Literal

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document

Verdict = Literal["match", "no_match", "unsure"]


class LinkageItem(TypedDict):
    """A linkage in a list. ``open``: pairs that nobody decided yet."""

    id: str
    name: str
    population: str
    created: str
    created_by: str
    job: str
    runs: int
    open: int
    undecided: int
    waiting: bool


class RunItem(TypedDict):
    """One run. ``snapshot``: what was loaded with its unit keys, if something was."""

    job: str
    number: int
    created: str
    created_by: str
    snapshot: str | None
    merges: int
    splits: int


class LinkageDetail(LinkageItem):
    """A linkage. ``report`` counts raw records: it is for custodians alone."""

    opinions: int
    file: str
    report: Document
    history: list[RunItem]


class StepShape(TypedDict):
    """What one field says about a pair; ``weight`` is in bits."""

    field: str
    level: str
    similarity: float | None
    weight: float
    left: list[tuple[str, bool]]
    right: list[tuple[str, bool]]


class RecordShape(TypedDict):
    """A record of a pair: where it is from, and whose it is now."""

    record: int
    source: str
    id: str
    patient: int
    values: dict[str, str]


class OpinionShape(TypedDict):
    """What a clerk said of a pair."""

    decision: str
    verdict: Verdict
    created: str
    created_by: str
    undone: str | None
    undone_by: str | None


class DoubtItem(TypedDict):
    """A doubtful pair in a list, without what its records say."""

    number: int
    left: int
    right: int
    score: float
    weight: float
    reason: str
    verdicts: dict[str, int]
    state: Literal["open", "waiting", "contested", "match", "no_match"]


class DoubtDetail(DoubtItem):
    """A doubtful pair: both records, and why they agree as well as they do."""

    records: list[RecordShape]
    prior: float
    steps: list[StepShape]
    opinions: list[OpinionShape]


class DecisionShape(TypedDict):
    """A decision, and what it leaves: ``waiting`` for another opinion, or decided."""

    decision: str
    number: int
    linkage: str
    left: int
    right: int
    verdict: Verdict
    created: str
    created_by: str
    undone: str | None
    state: Literal["open", "waiting", "contested", "match", "no_match"]


class ClerkShape(TypedDict):
    """What one clerk decided."""

    clerk: str
    pairs: int
    matches: int
    no_matches: int
    unsure: int


class AgreementShape(TypedDict):
    """How two clerks agree on pairs that both decided; ``kappa`` is Cohen's."""

    clerks: list[str]
    pairs: int
    agreed: int
    kappa: float | None


class AgreementsShape(TypedDict):
    """Clerks of a linkage, and how they agree."""

    clerks: list[ClerkShape]
    agreements: list[AgreementShape]


class ActShape(TypedDict):
    """That records of one patient are another's since a run."""

    run: int
    job: str
    snapshot: str | None
    kind: Literal["merge", "split"]
    old: int
    new: int
    records: int


class ActsShape(TypedDict):
    """What runs changed for patients, the oldest first."""

    acts: list[ActShape]
