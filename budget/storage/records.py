"""What the ledger is asked and what it answers."""

from dataclasses import dataclass

from privacy.charges import Charge
from privacy.losses import Loss


@dataclass(frozen=True, order=True, slots=True)
class Scope:
    """What a limit and a counter belong to; opaque to the ledger but for its kind."""

    kind: str
    name: str

    @classmethod
    def population(cls, name: str) -> "Scope":
        """The cap of a population: the only limit that is a privacy statement.

        One with blocks has none of its own: nothing can be charged to it.
        """
        return cls("population", name)

    @classmethod
    def block(cls, population: str, value: str) -> "Scope":
        """The cap of one block of a population (docs/proofs/blocks.md)."""
        return cls("block", f"{population}/{value}")

    @classmethod
    def project(cls, name: str) -> "Scope":
        """The allotment of a project."""
        return cls("project", name)

    @classmethod
    def principal(cls, project: str, name: str) -> "Scope":
        """The allotment of one principal inside a project; may have no limit."""
        return cls("principal", f"{project}/{name}")

    @property
    def block_name(self) -> str:
        """The block of its population; empty where it is none."""
        return self.name.partition("/")[2] if self.kind == "block" else ""

    @property
    def must_be_limited(self) -> bool:
        """Whether nothing may be charged while no limit is set."""
        return self.kind != "principal"

    @property
    def is_promised(self) -> bool:
        """Whether its limit is a cap: a promise to patients, and held by the anchor."""
        return self.kind in PROMISED

    @property
    def total_name(self) -> str:
        """What the anchor calls its total: a population's name, ``name/value``."""
        return self.name

    @classmethod
    def of_total(cls, name: str) -> "Scope":
        """Return the scope whose total the anchor holds under a name.

        No population has a slash in its name.
        """
        return cls("block" if "/" in name else "population", name)

    @classmethod
    def read(cls, text: str) -> "Scope":
        """Return the scope that tables and entries hold as ``text``."""
        kind, _, name = text.partition(":")
        return cls(kind, name)

    def __str__(self) -> str:
        """Write the scope as tables and entries hold it."""
        return f"{self.kind}:{self.name}"


PROMISED = ("population", "block")
"""Kinds of scopes that have a cap: whose spent totals the anchor holds."""

NO_PROJECT = ""
"""The project of charges whose work is a job's: a release is its population's alone."""


@dataclass(frozen=True, slots=True)
class Refinement:
    """Whose noise a charge goes on from: once (docs/proofs/refining.md).

    Attributes:
        query_id: Of the charge whose numbers were shown.
        total: What the new numbers cost with all that they go on from.
    """

    query_id: str
    total: Loss


@dataclass(frozen=True, slots=True)
class ChargeRequest:
    """A charge, or a free answer, that somebody asks for.

    ``request_json`` is opaque here, and enough to execute the question again.
    """

    query_id: str
    principal: str
    project: str
    population: str
    dataset: str
    snapshot: str
    scopes: tuple[Scope, ...]
    loss: Loss
    question: str
    private_history: bool
    idempotency_key: str | None
    fingerprint: str | None
    request_json: str
    refines: Refinement | None = None


@dataclass(frozen=True, slots=True)
class Charged:
    """The charge is durable and anchored; ``remaining`` is what it left."""

    charge: Charge
    remaining: dict[Scope, Loss | None]


@dataclass(frozen=True, slots=True)
class Refused:
    """A limit would be passed; nothing was spent, the refusal is on record."""

    remaining: dict[Scope, Loss | None]


@dataclass(frozen=True, slots=True)
class NotRefinable:
    """Something refines that answer already, or a restore may have forgotten it."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The key brought this answer before."""

    query_id: str
    body: bytes


@dataclass(frozen=True, slots=True)
class FailedReplay:
    """The key's question failed after its charge."""

    query_id: str


@dataclass(frozen=True, slots=True)
class InFlight:
    """The key's first request is still being answered."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The key came before with another request."""


Settled = Replay | FailedReplay | InFlight | Mismatch


@dataclass(frozen=True, slots=True)
class PaidQuestion:
    """A question that was charged and whose answer was shown.

    Attributes:
        query_id: Of the charge.
        question: Its identity.
        loss: What its numbers cost, with those that it refined.
        request: Its text, as it was charged.
        can_be_refined: Whether nothing draws on its noise yet.
    """

    query_id: str
    question: str
    loss: Loss
    request: str
    can_be_refined: bool = False


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A released answer that may be given again for nothing.

    Attributes:
        query_id: Of the question that paid for it.
        loss: What it paid.
        body: The document that was sent.
        vectors: All that was measured, as ``store_answer`` was given it, or None.
    """

    query_id: str
    loss: Loss
    body: bytes
    vectors: bytes | None = None


@dataclass(frozen=True, slots=True)
class Orphan:
    """A charge without an answer, now leased to whoever claimed it."""

    charge: Charge
    principal: str
    project: str
    snapshot: str
    time: str
    request_json: str

    @property
    def query_id(self) -> str:
        """The question's id."""
        return self.charge.query_id

    @property
    def loss(self) -> Loss:
        """What was charged for it."""
        return self.charge.loss


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """One question of a principal. ``body`` is its answer, once there is one.

    ``held``: some process has not sent the reply yet.
    """

    query_id: str
    principal: str
    project: str
    dataset: str
    snapshot: str
    time: str
    state: str
    loss: Loss
    reused: bool
    held: bool
    request_json: str
    body: bytes | None = None
