"""English: identifiers in reports of mtsamples.com and in clinicians' queries.

Run: ``python -m benchmarks.extraction.english --data FOLDER [--documents 900]``. Trains
one model on reports with injected identifiers and one on asq-phi, judges each on
documents, names and in part wordings that it has not seen, and Presidio's patterns
beside it on the same ones; the first also on these reports with no wording at all that
it has learned. ``--test FILE`` judges the first model (``--only reports``) or the
second (``--only queries``) on a file of JSON lines instead.
"""

import argparse
from pathlib import Path

from benchmarks.extraction.corpora import Parts, add_data, asq_parts, gold_of
from benchmarks.extraction.dictionaries import dictionaries_of
from benchmarks.extraction.injection import injected_parts
from benchmarks.extraction.presidio import (
    ASQ,
    INJECTED,
    NAME,
    PresidioFinder,
    is_installed,
)
from benchmarks.extraction.tables import print_overview, print_types
from benchmarks.extraction.trained import (
    add_spec,
    for_recall,
    judged,
    spec_of,
    speed_of,
    trained,
)
from upstream.extraction.measures.report import judge
from upstream.extraction.models.training import GoldStandard

DOCUMENTS = 900
"""Reports that are trained, tuned and judged on, unless told otherwise."""


def main() -> None:
    """Train, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    add_spec(parser)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--only", choices=("reports", "queries"))
    parser.add_argument("--test", type=Path, help="JSON lines, with --only")
    parser.add_argument("--no-dictionaries", action="store_true")
    told = parser.parse_args()
    if told.test and not told.only:
        parser.error("--test says what one model is judged on: add --only")
    if told.only != "queries":
        _print_one("reports", injected_parts(told.data, told.documents), told, INJECTED)
    if told.only != "reports":
        _print_one("queries", asq_parts(told.data), told, ASQ)


def _print_one(name: str, parts: Parts, told: argparse.Namespace, types) -> None:
    phrases = () if told.no_dictionaries else dictionaries_of("en")
    gold = GoldStandard(parts.train, parts.tune, phrases)
    kept = told.model and told.model.with_name(f"{told.model.name}-{name}")
    model = trained(name, spec_of(told.spec), gold, kept)
    held = gold_of(told.test) if told.test else parts.judge
    best, careful = judged(model, held), judged(for_recall(model, parts.tune), held)
    lines = {"for F1": best.judgement, "for recall": careful.judgement}
    if is_installed():
        lines[NAME] = judge(held, PresidioFinder(types).find)
    if name == "reports" and not told.test:
        unseen = injected_parts(told.data, told.documents, "unseen").judge
        lines["for F1, wordings never seen"] = judged(model, unseen).judgement
    spans = sum(len(each.spans) for each in held)
    print_overview(f"{name}: {len(held)} documents, {spans:,} spans", lines)
    print_types(f"{name}, for F1", best.judgement)
    print(f"\n{speed_of(best)}")


if __name__ == "__main__":
    main()
