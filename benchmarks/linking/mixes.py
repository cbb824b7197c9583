"""Made-up sets like FEBRL's, with other mixes of slips, beside splink alone.

Run: ``python -m benchmarks.linking.mixes``. No threshold or level was chosen by FEBRL's
set 4 alone: these have several duplicates an original, up to twelve slips a record,
families, and few duplicates. Prints Markdown: linked pairs, judged as pairs.
"""

from benchmarks.linking.febrl import judge
from benchmarks.linking.slips import KINDS, Mix, drawn_records
from benchmarks.linking.tables import HEAD, Records

TYPED = dict.fromkeys(("insert", "change", "delete", "transpose", "space"), 1.0)
ROUGH = {**KINDS, "missing": 3.0, "swap": 2.0, "other": 1.5}
MIXES = {
    "as FEBRL 2: few duplicates, up to 5 of one": (
        4000,
        Mix(0.11, most=5, per_field=2, per_record=4),
    ),
    "as FEBRL 3: many, up to 5 of one and 10 slips": (
        2000,
        Mix(0.8, most=5, per_field=3, per_record=10),
    ),
    "the same, more values lost, swapped, wrong": (
        2000,
        Mix(0.8, most=5, per_field=3, per_record=10, kinds=ROUGH),
    ),
    "typing slips alone, up to 12": (
        3000,
        Mix(0.5, most=3, per_field=3, per_record=12, kinds=TYPED),
    ),
    "two in five live with others": (
        3000,
        Mix(0.5, most=2, per_field=2, per_record=5, households=0.4),
    ),
    "the same, a few slips, one in ten of them a twin or a namesake": (
        3000,
        Mix(0.3, most=1, per_field=1, per_record=2, households=0.4, alike=0.05),
    ),
    "300 people, one in ten who live with others a twin or a namesake": (
        300,
        Mix(0.25, most=1, per_field=1, per_record=2, households=0.5, alike=0.05),
    ),
    "one in a hundred twice": (5000, Mix(0.01, most=1, per_field=2, per_record=6)),
}


def main() -> None:
    """Draw each mix, link, print."""
    for name, (count, mix) in MIXES.items():
        drawn = list(drawn_records(count, mix, seed=23))
        records = Records(
            [row for _, row in drawn],
            [person for person, _ in drawn],
            ["records"] * len(drawn),
        )
        print(f"\n{HEAD.format(f'{name}; {len(drawn):,} records')}")
        judge(records)


if __name__ == "__main__":
    main()
