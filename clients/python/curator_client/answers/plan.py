"""What a question would cost and how noisy its answer would be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from typing import Any, Generic, TypeVar

from curator_client.answers.losses import loss_in_words, loss_of, word_of
from curator_client.tables.display import each_once, parted, preformatted, wrapped

Asked = TypeVar("Asked")
_HIDDEN_LIMIT = "a limit that is not shown to you has less left"


@dataclass(frozen=True, repr=False)
class Plan(Generic[Asked]):
    """The price of a question, and the noise of its answer; nothing was spent.

    Attributes:
        document: The server's reply.
    """

    document: dict[str, Any]
    asker: Callable[[], Asked] | None = field(default=None, compare=False)

    def ask(self) -> Asked:
        """Ask exactly this question at exactly this price; it is paid for once.

        Calling it again brings the same answer for nothing, whatever ``reuse`` says.

        Raises:
            CuratorRefusalError: Another question was asked in between, and the budget
                no longer suffices; or whatever ``query`` raises.
            ValueError: The plan was made from a document, and knows no server.
        """
        if self.asker is None:
            message = "this plan knows no server: make it with curator.plan(...)"
            raise ValueError(message)
        return self.asker()

    @property
    def epsilon(self) -> str:
        """The price; where the population counts rho, what its rho amounts to."""
        return str(self.document["epsilon"])

    @property
    def rho(self) -> str | None:
        """The price where the population counts rho; else None."""
        rho = self.document.get("rho")
        return None if rho is None else str(rho)

    @property
    def affordable(self) -> bool:
        """Whether every limit has room for it."""
        return bool(self.document["affordable"])

    @property
    def remaining(self) -> dict[str, str | None]:
        """What is left of the project's and of your own allotment."""
        return dict(self.document["remaining"])

    @property
    def snapshot(self) -> str:
        """The snapshot of the data that would be asked."""
        return str(self.document["snapshot"])

    @property
    def columns(self) -> list[dict[str, Any]]:
        """The columns of the answer: name, kind (group or measure), type, unit."""
        return list(self.document["columns"])

    @property
    def cells(self) -> int:
        """How many rows the answer has at most."""
        return int(self.document["cells"])

    @property
    def noise(self) -> list[dict[str, Any]]:
        """Scale and half-width of each measured column."""
        return list(self.document["noise"])

    @property
    def half_widths(self) -> dict[str, float]:
        """The 95 % half-width of each cell, by measure, of counts and sums."""
        return {
            str(noise["column"]): float(noise["half_width_95"])
            for noise in self.noise
            if "part" not in noise and "per" not in noise
        }

    @property
    def expected(self) -> list[dict[str, Any]]:
        """The largest errors of averages and quantiles, for round numbers of rows.

        Each entry has ``counted``, values in a cell, and ``half_widths``, None where
        noise may decide all. ``of`` is ``"value"``, or ``"share"`` of a quantile: of a
        fraction q and a half-width s, at least q - s of the exact values lie up to the
        end of its bin, and at most q + s before that bin, which may hold none.
        """
        return list(self.document.get("expected", []))

    @property
    def totals(self) -> list[dict[str, Any]]:
        """How noisy the rows of each grouping set are, of ROLLUP and the like.

        Each entry has ``keys``, ``added``, how many noisy cells a row adds up, and
        ``half_widths``, of each count and sum. ``half_widths`` of a plan are a cell's.
        """
        return list(self.document.get("totals", []))

    @property
    def attainable(self) -> dict[str, Any] | None:
        """What is left, as ``epsilon``, and its ``noise``; None where it suffices."""
        found: dict[str, Any] | None = self.document.get("attainable")
        return found

    @property
    def cost(self) -> dict[str, int]:
        """The most work and memory that the question takes, whatever the rows.

        ``steps`` (about a nanosecond each) and ``memory_bytes`` of all rows;
        ``unit_steps`` and ``unit_memory_bytes`` of those that one person can add;
        ``startup_steps`` and ``startup_memory_bytes`` that the first rows begin,
        whoever's they are.
        Empty where the server does not tell.
        """
        return dict(self.document.get("cost") or {})

    @property
    def derivation(self) -> str:
        """Why the noise has this size, in words."""
        return str(self.document["derivation"])

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What to know before relying on the answer."""
        return list(self.document.get("warnings", []))

    @property
    def free(self) -> list[dict[str, Any]]:
        """Answers that are on offer for nothing: given before, or by a release.

        An answer that was given before is taken as it is; a release only by
        ``options={"prefer": "release"}`` (in a terminal, ``--prefer release``), and
        what follows from numbers that the project paid for by ``"paid"``.
        """
        return list(self.document["free"])

    @property
    def related(self) -> list[dict[str, Any]]:
        """Published releases that come near, each with its ``differences``."""
        return list(self.document.get("related", []))

    @property
    def ways(self) -> list[dict[str, Any]]:
        """The cheapest ways to these numbers, or to ones that come near.

        Each has its ``kind``, its price, its ``half_widths``, in what it is not what
        was asked (``detail``), and a ``request``:
        ``curator.query(**plan.ways[0]["request"])``. Last come releases that are
        announced (``"announced"``): these have no request, but the name of the
        ``release`` and the day ``by`` which it is planned.
        """
        return list(self.document.get("ways", []))

    @property
    def blocks(self) -> list[str]:
        """The blocks that asking charges; empty where the population has none."""
        return list(self.document.get("blocks", []))

    def _text(self) -> str:
        """Return a summary; each line as long as it comes."""
        noise = [f"  {said}" for said in noise_lines(self.noise)]
        noise += [f"  {_expectation(each)}" for each in self.expected]
        noise += attainable_lines(self.attainable)
        given = [one for one in self.free if one["kind"] == "answer"]
        price = "free" if given else loss_in_words(self.document)
        room = "affordable" if self.affordable else self._over_budget()
        if self.blocks:
            several = "s" if len(self.blocks) > 1 else ""
            room = f"charged to the block{several} {', '.join(self.blocks)}; {room}"
        notes = [f"note: {warning['detail']}" for warning in self.warnings]
        notes += [
            f"note: the release {one.get('name', one['id'])} answers this for nothing: "
            'options={"prefer": "release"}, in a terminal --prefer release'
            for one in self.free
            if one["kind"] == "release"
        ]
        notes += self._probe_notes()
        notes += self._refining_notes()
        notes += [_paid_note(one) for one in self.free if one["kind"] == "paid"]
        loss = loss_of(self.document)
        notes += [_way_note(way, loss) for way in self.ways if way["kind"] in _COARSER]
        notes += [_later_note(way) for way in self.ways if way["kind"] == "announced"]
        lines = [f"price: {price} ({room})", *self._other_noise(given), *noise]
        derived = each_once(self.derivation)
        return "\n".join([*lines, *_work(self.cost), derived, *notes])

    def __str__(self) -> str:
        """Return a summary, its lines no longer than the terminal is wide."""
        return wrapped(self._text())

    __repr__ = __str__

    def _probe_notes(self) -> list[str]:
        """Say which small question would make a relative accuracy cheaper."""
        probe = self.document.get("priced_by", {}).get("probe")
        if probe is None:
            return []
        word, best = word_of(self.document), self.document["priced_by"].get("at_best")
        said = (
            "note: priced as if all numbers were small; the same question, bought at "
            f"{word} {probe} first, makes this cheaper if they are large"
        )
        if best is not None:
            said = (
                "note: numbers are not known well yet; the same question, bought at "
                f"{word} {probe} first, may make this cheaper: {word} {best} at best"
            )
        return [f"{said}, and is no loss: what was paid counts"]

    def _refining_notes(self) -> list[str]:
        """Say which paid queries make this one cheaper."""
        taken = self.document.get("refines")
        if taken is None:
            return []
        of = ", ".join(taken["queries"])
        return [f"note: goes on from {of}: the price is what is left to pay"]

    def _other_noise(self, given: list[dict[str, Any]]) -> list[str]:
        """Say whose the noise below is, where the answer on offer has other noise."""
        price = loss_of(self.document)
        if not given or Decimal(loss_of(given[0])) == Decimal(price):
            return []
        held, word = given[0]["id"], word_of(self.document)
        said = (
            f"the answer {held} is given again, with the noise of {word} "
            f"{loss_of(given[0])}; a fresh one, at {word} {price}, would have:"
        )
        return [said]

    def _over_budget(self) -> str:
        """Say which limit has no room: one that is shown, or one that is not."""
        price = Decimal(loss_of(self.document))
        short = [
            f"{whose} has {left} left"
            for whose, left in self.remaining.items()
            if left is not None and Decimal(left) < price
        ]
        return f"over budget: {' and '.join(short) or _HIDDEN_LIMIT}"

    def _repr_html_(self) -> str:
        return preformatted(self._text())


def noise_lines(noise: list[dict[str, Any]]) -> list[str]:
    """Return the half-width of each measured column or part of one, a line each."""
    return [f"{_noisy_name(n)}: ± {parted(n['half_width_95'])} (95 %)" for n in noise]


def attainable_lines(attainable: dict[str, Any] | None) -> list[str]:
    """Say what the rest of a budget would bring."""
    if attainable is None:
        return []
    said = "; ".join(noise_lines(attainable["noise"]))
    left = f"{word_of(attainable)} {loss_of(attainable)}"
    return [f"with the {left} that is left: {said}"]


def _work(cost: dict[str, int]) -> list[str]:
    """Say what a question may take: seconds of one processor, and memory."""
    if not cost:
        return []
    seconds = format(Decimal(cost["steps"]).scaleb(-9), ".2f")
    size = -(-cost["memory_bytes"] // 2**20)
    return [f"work: at most {seconds} s of a processor and {size:,} MB"]


def _expectation(told: dict[str, Any]) -> str:
    """Return the largest errors of averages or quantiles, at round numbers of rows."""
    counts = zip(told["counted"], told["half_widths"], strict=True)
    known = [(n, Decimal(width)) for n, width in counts if width is not None]
    if not known:
        most = f"{told['counted'][-1]:,}"
        return f"{told['column']}: noise may decide it, even where {most} rows count"
    said = ", ".join(f"± {_rounded_up(width)} of {n:,}" for n, width in known)
    error = f"at most {said} rows that count in a cell (95 %)"
    if told["of"] == "share":
        error = f"the share of rows up to its bin, or before it, {error}"
    return f"{told['column']}: {error}"


def _rounded_up(width: Decimal) -> str:
    """Return two digits of a width, never less."""
    step = Decimal(1).scaleb(min(0, width.adjusted() - 1))
    return format(width.quantize(step, ROUND_CEILING), "f")


def _noisy_name(noise: dict[str, Any]) -> str:
    if "part" in noise:
        return f"{noise['column']}, its {noise['part']}"
    per = f", each {noise['per']}" if "per" in noise else ""
    return f"{noise['column']}{per}"


_COARSER = ("values", "units", "period", "key", "rows", "groups")


def _way_note(way: dict[str, Any], price: str) -> str:
    """Say what a coarser question costs, and how wide it is, where that is known."""
    word = "cheaper" if Decimal(loss_of(way)) < Decimal(price) else "less noise"
    known = ", ".join(filter(None, [loss_in_words(way), _widths_of(way)]))
    return f"{word}: {known}: {way['detail']}"


def _later_note(way: dict[str, Any]) -> str:
    """Say what an announced release will give for nothing, and how wide it will be."""
    known = ", ".join(filter(None, ["for nothing", _widths_of(way)]))
    return f"later: {known}: {way['detail']}"


def _widths_of(way: dict[str, Any]) -> str:
    return ", ".join(
        f"{each['column']} ± {parted(each['half_width_95'])}"
        for each in way["half_widths"]
    )


def _paid_note(offer: dict[str, Any]) -> str:
    """Say what paid questions give for nothing, and how wide it is."""
    widths = (
        f"{each['column']} ± {parted(each['least'])}"
        if each["least"] == each["greatest"]
        else f"{each['column']} ± {parted(each['least'])} to {parted(each['greatest'])}"
        for each in offer["half_widths"]
    )
    count = len(offer["queries"])
    of = "an answer" if count == 1 else f"{count} answers"
    give = "gives" if count == 1 else "give"
    return (
        f"note: {of} that the project paid for {give} this for nothing "
        f"({', '.join(widths)}): "
        'options={"prefer": "paid"}, in a terminal --prefer paid'
    )
