"""Copies in which repeats of codes are censored (GCCens)."""

from collections.abc import Mapping, Sequence

from upstream.anonymization.codes.copies import CodesCopy
from upstream.trajectories.gccens.censoring import Strategy, censor
from upstream.trajectories.gccens.losses import spread_of, utility_losses

Codes = Sequence[str]
LARGEST_CAP = 10
"""Of the caps that a plan tries."""


class CensoredCodes:
    """Codes of a sample, whose people are known."""

    def __init__(
        self,
        sample: Sequence[Codes],
        people: Sequence[Codes],
        caps: Mapping[str, int] | int,
        strategy: Strategy,
    ) -> None:
        """Take what is censored.

        Args:
            sample: By record, its codes, repeats included.
            people: Likewise of everybody who may be in the sample.
            caps: How often a code may appear in a record; of codes that a map does
                not name, once.
            strategy: How records are censored.
        """
        self._sample, self._people = sample, people
        self._caps, self._strategy = caps, strategy

    def made(self, k: int) -> CodesCopy:
        """Return a copy in which each record fits k people.

        Raises:
            ValueError: There are fewer people.
        """
        return self._made(k, self._caps)

    def by_cap(self, k: int) -> list[dict[str, object]]:
        """Return what caps from 1 to 10 lose, the same for all codes.

        Raises:
            ValueError: There are fewer than k people.
        """
        return [
            {"cap": cap, **self._made(k, cap).measures}
            for cap in range(1, LARGEST_CAP + 1)
        ]

    def _made(self, k: int, caps: Mapping[str, int] | int) -> CodesCopy:
        limits = caps if isinstance(caps, int) else self._complete(caps)
        censored = censor(self._sample, self._people, k, limits, self._strategy)
        lost = spread_of(utility_losses(censored))
        by_k = spread_of(utility_losses(censored, "capped"))
        published = sorted(
            tuple(counted_codes(record)) for record in censored.records()
        )
        return CodesCopy(
            ("code", "count"),
            published,
            None,
            {
                "prosecutor": round(1 / int(censored.supporters.min()), 4),
                "marketer": round(float((1 / censored.supporters).mean()), 4),
                "cul_mean": round(lost.mean, 4),
                "cul_median": round(lost.median, 4),
                "cul_deviation": round(lost.standard_deviation, 4),
                "cul_of_capped": round(by_k.mean, 4),
                "changed": round(lost.changed, 4),
            },
        )

    def _complete(self, caps: Mapping[str, int]) -> Mapping[str, int]:
        every = {
            code
            for each in (self._sample, self._people)
            for one in each
            for code in one
        }
        return {code: caps.get(code, 1) for code in every}


def counted_codes(record: Codes) -> list[tuple[str, str]]:
    """Return each code of a record, and how often it has it."""
    return [(code, str(record.count(code))) for code in sorted(set(record))]
