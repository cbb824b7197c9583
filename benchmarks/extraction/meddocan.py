"""MEDDOCAN: identifiers in Spanish clinical cases, judged as its shared task did.

Run: ``python -m benchmarks.extraction.meddocan --data FOLDER [--test FILE]``. Trains on
``train.jsonl``, chooses thresholds on ``dev.jsonl``, and judges on ``--test``; without
it on dev itself, which thresholds have seen, or with ``--tune half`` on the half of dev
that they have not. Prints Markdown tables: the model for F1, the same model for leaks
(thresholds for recall, precision of characters at least .93), and the types.
Figures of others: Marimon et al. 2019 (best of 63 runs .9696 strict).
"""

import argparse
import sys
from pathlib import Path

from benchmarks.extraction.corpora import Parts, add_data, gold_of
from benchmarks.extraction.dictionaries import are_installed, dictionaries_of
from benchmarks.extraction.tables import print_overview, print_types
from benchmarks.extraction.trained import (
    add_spec,
    for_recall,
    judged,
    spec_of,
    speed_of,
    trained,
)
from upstream.extraction.models.training import GoldStandard


def main() -> None:
    """Train, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    add_spec(parser)
    parser.add_argument("--test", type=Path, help="JSON lines; default: dev")
    parser.add_argument("--tune", choices=("dev", "half"), default="dev")
    parser.add_argument("--no-dictionaries", action="store_true")
    told = parser.parse_args()
    parts = parts_of(told.data, told.test, half=told.tune == "half")
    phrases = () if told.no_dictionaries else dictionaries_of("es")
    if not (phrases or told.no_dictionaries or are_installed()):
        print("without dictionaries: install requirements/benchmarks.txt")
    gold = GoldStandard(parts.train, parts.tune, phrases)
    model = trained("meddocan", spec_of(told.spec), gold, told.model)
    best = judged(model, parts.judge)
    careful = judged(for_recall(model, parts.tune), parts.judge)
    spans = sum(len(each.spans) for each in parts.judge)
    print_overview(
        f"{len(parts.judge)} documents, {spans:,} spans",
        {"for F1": best.judgement, "for recall": careful.judgement},
    )
    print_types("type, for F1", best.judgement)
    print(f"\n{speed_of(best)}")


def parts_of(data: Path, test: Path | None, *, half: bool) -> Parts:
    """Return what is trained on, tuned on and judged on."""
    folder = data / "meddocan"
    train, dev = gold_of(folder / "train.jsonl"), gold_of(folder / "dev.jsonl")
    tune = dev[::2] if half else dev
    if test is not None:
        return Parts(train, tune, gold_of(test))
    if half:
        return Parts(train, tune, dev[1::2])
    print(
        "judged on dev, which thresholds have seen: name --test FILE", file=sys.stderr
    )
    return Parts(train, tune, dev)


if __name__ == "__main__":
    main()
