"""Linkages as they are sent to custodians."""

from typing import Literal

from typing_extensions import TypedDict

from server.use_cases.services.documents import Document, TimeText

Verdict = Literal["match", "no_match", "unsure"]


class LinkageItem(TypedDict):
    """A linkage in a list. ``open``: pairs that nobody decided yet."""

    id: str
    """Id of the linkage, `lnk_` and 24 hexadecimal digits."""
    name: str
    """Its name in the population."""
    population: str
    """Name of the population whose records are linked."""
    created: TimeText
    """When it was first run."""
    created_by: str
    """Name of the principal who first ran it."""
    job: str
    """Id of the job whose run counts, the latest."""
    runs: int
    """How many runs there were."""
    open: int
    """Doubtful pairs that nobody said anything of yet."""
    undecided: int
    """Doubtful pairs that are not decided: open, waiting or contested."""
    waiting: bool
    """Whether there are decisions that only the next run will go by."""


class RunItem(TypedDict):
    """One run. ``snapshot``: what was loaded with its unit keys, if something was."""

    job: str
    """Id of the job that ran."""
    number: int
    """Of the run in its linkage, from 1."""
    created: TimeText
    """When it was recorded."""
    created_by: str
    """Name of the principal who submitted it."""
    snapshot: str | None
    """Id of the snapshot that was loaded with its unit keys; null where none was."""
    merges: int
    """How many patients became another's by this run."""
    splits: int
    """How many patients were parted by this run."""


class LinkageDetail(LinkageItem):
    """A linkage. ``report`` counts raw records: it is for custodians alone."""

    opinions: int
    """How many clerks have to agree on a pair before it is decided."""
    file: str
    """Name of the linkage file, under the import directory."""
    report: Document
    """Of the latest run: counts of raw records, for custodians alone."""
    history: list[RunItem]
    """Its runs, the newest first."""


class StepShape(TypedDict):
    """What one field says about a pair; ``weight`` is in bits."""

    field: str
    """Name of the field that is compared."""
    level: str
    """How well the values agree, in words."""
    similarity: float | None
    """Of the two values, from 0 to 1; null where the field has none."""
    weight: float
    """How much it speaks for one patient, in bits; negative speaks against."""
    left: list[tuple[str, bool]]
    """The left record's value in pieces, each with whether it differs."""
    right: list[tuple[str, bool]]
    """The right record's value in pieces, each with whether it differs."""


class RecordShape(TypedDict):
    """A record of a pair: where it is from, and whose it is now."""

    record: int
    """Number of the record in the linkage."""
    source: str
    """Name of the source that it came from."""
    id: str
    """Its id in that source."""
    patient: int
    """Unit key of the patient whose record it is now."""
    values: dict[str, str]
    """The fields' values, as the source writes them; fields without a value are left
    out."""


class OpinionShape(TypedDict):
    """What a clerk said of a pair."""

    decision: str
    """Id of the decision."""
    verdict: Verdict
    """What the clerk said of the pair."""
    created: TimeText
    """When it was said."""
    created_by: str
    """Name of the clerk."""
    undone: TimeText | None
    """When it was taken back; null while it stands."""
    undone_by: str | None
    """Name of the clerk who took it back; null while it stands."""


class DoubtItem(TypedDict):
    """A doubtful pair in a list, without what its records say."""

    number: int
    """Place among the run's doubts, the surest is 1."""
    left: int
    """Number of the left record, the smaller one."""
    right: int
    """Number of the right record."""
    score: float
    """How sure the comparison is that both are one patient's, from 0 to 1."""
    weight: float
    """Match weight over all fields, in bits."""
    reason: str
    """Why the pair is doubtful, such as `score`."""
    verdicts: dict[str, int]
    """How many standing opinions say each verdict."""
    state: Literal["open", "waiting", "contested", "match", "no_match"]
    """`open`: nobody said anything. `waiting`: more opinions are needed. `contested`:
    clerks disagree. Else what was decided."""


class DoubtDetail(DoubtItem):
    """A doubtful pair: both records, and why they agree as well as they do."""

    records: list[RecordShape]
    """Both records, the left one first."""
    prior: float
    """Weight before any field is compared, in bits."""
    steps: list[StepShape]
    """What each field says."""
    opinions: list[OpinionShape]
    """What clerks said, also what was taken back."""


class DecisionShape(TypedDict):
    """A decision, and what it leaves: ``waiting`` for another opinion, or decided."""

    decision: str
    """Id of the decision, by which it is taken back."""
    number: int
    """Of the decision in its linkage, from 1."""
    linkage: str
    """Id of the linkage."""
    left: int
    """Number of the left record, the smaller one."""
    right: int
    """Number of the right record."""
    verdict: Verdict
    """What the clerk said of the pair."""
    created: TimeText
    """When it was said."""
    created_by: str
    """Name of the clerk."""
    undone: TimeText | None
    """When it was taken back; null while it stands."""
    state: Literal["open", "waiting", "contested", "match", "no_match"]
    """What the pair is by now, over all its opinions."""


class ClerkShape(TypedDict):
    """What one clerk decided."""

    clerk: str
    """Name of the clerk."""
    pairs: int
    """How many pairs the clerk decided; what was taken back does not count."""
    matches: int
    """Of these, how many are one patient's."""
    no_matches: int
    """Of these, how many are two patients'."""
    unsure: int
    """Of these, how many the clerk could not tell."""


class AgreementShape(TypedDict):
    """How two clerks agree on pairs that both decided; ``kappa`` is Cohen's."""

    clerks: list[str]
    """Names of the two clerks."""
    pairs: int
    """How many pairs both decided."""
    agreed: int
    """On how many of them both said the same."""
    kappa: float | None
    """Cohen's kappa, from -1 to 1; null where it is not defined."""


class AgreementsShape(TypedDict):
    """Clerks of a linkage, and how they agree."""

    clerks: list[ClerkShape]
    """What each clerk decided."""
    agreements: list[AgreementShape]
    """One entry for each two clerks."""


class ActShape(TypedDict):
    """That records of one patient are another's since a run."""

    run: int
    """Number of the run that made it."""
    job: str
    """Id of that run's job."""
    snapshot: str | None
    """Id of the snapshot that was loaded with the run's unit keys; null if none was."""
    kind: Literal["merge", "split"]
    """`merge`: two patients became one. `split`: one became two."""
    old: int
    """Unit key that the records had."""
    new: int
    """Unit key that they have since."""
    records: int
    """How many records it is about."""


class ActsShape(TypedDict):
    """What runs changed for patients, the oldest first."""

    acts: list[ActShape]
    """Merges and splits, the oldest first."""
