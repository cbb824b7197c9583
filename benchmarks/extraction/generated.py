"""The demo's notes of made-up patients: how well some find the identifiers of others.

Run: ``python -m benchmarks.extraction.generated``; it needs no data, and takes a
minute. Learned and judged notes share wordings and names, so this is for trying.
"""

import argparse
from itertools import islice

from benchmarks.extraction.tables import print_overview, print_types
from benchmarks.extraction.trained import add_spec, judged, spec_of, trained
from server.demo.notes.notes import PATIENTS, draw_notes
from upstream.extraction.models.training import GoldStandard

QUICK = {"training": {"algorithm": "ap", "iterations": 20}}


def main() -> None:
    """Train, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_spec(parser)
    parser.add_argument("--learned", type=int, default=300, help="notes")
    parser.add_argument("--judged", type=int, default=2000, help="notes")
    told = parser.parse_args()
    notes = list(islice(draw_notes(PATIENTS), told.learned + told.judged))
    gold = GoldStandard(notes[: told.learned])
    model = trained("generated", spec_of(told.spec, **QUICK), gold, told.model)
    found = judged(model, notes[told.learned :]).judgement
    print_overview(f"{len(found.documents)} notes", {"for F1": found})
    print_types("type", found)


if __name__ == "__main__":
    main()
