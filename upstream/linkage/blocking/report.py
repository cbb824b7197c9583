"""What blocking brought together, and what it may have missed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassReport:
    """One pass.

    Attributes:
        rule: Its keys.
        pairs: Pairs of records in its blocks.
        new: Those that no pass before it brings.
        largest: Records of its largest block.
        left_out: Blocks that were too large to be compared.
        left_out_records: The records in them.
    """

    rule: str
    pairs: int
    new: int
    largest: int
    left_out: int
    left_out_records: int


@dataclass(frozen=True, slots=True)
class BlockingReport:
    """All passes.

    Attributes:
        passes: In order.
        pairs: All pairs that are compared.
        completeness: An estimate of the part of the matches that are compared, from
            how many passes bring each certain pair (Chao's); None before pairs are
            scored, or where there are too few.
        labelled_completeness: The part of the labelled matches that are compared;
            None without any.
    """

    passes: tuple[PassReport, ...]
    pairs: int
    completeness: float | None
    labelled_completeness: float | None


def chao(found_once: int, found_twice: int, found: int) -> float | None:
    """Return the part that was found of all there is, by what was found how often.

    Of n things found, f1 were found by one pass alone and f2 by two; at least about
    f1 squared / (2 f2) were found by none (Chao 1987), more if passes miss the same.

    >>> chao(10, 50, 1000)
    0.999000999000999
    """
    if not found:
        return None
    unseen = found_once * max(0, found_once - 1) / (2 * (found_twice + 1))
    if found_twice:
        unseen = found_once**2 / (2 * found_twice)
    return found / (found + unseen)
