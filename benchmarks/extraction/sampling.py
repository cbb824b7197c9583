"""HIDE's sampling of tokens again: precision and recall against how much is kept.

Run: ``python -m benchmarks.extraction.sampling --data FOLDER [--corpus meddocan]``.
Trains by the averaged perceptron with windows of 1 to 10 tokens, with p of .05 to 1 of
the other tokens (four near each span are always kept), and on all; judges spans and
characters with the threshold .5 for all types, so that sampling alone moves them.
Prints Markdown tables and draws ``docs/images/extraction-sampling-CORPUS.png``, after
figures 4.6 to 4.11 of Gardner 2012.
"""

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from benchmarks.extraction.chosen import add_corpus, chosen_parts, phrases_for
from benchmarks.extraction.corpora import add_data
from upstream.extraction.measures.report import Judgement, judge
from upstream.extraction.models.chains.crf import CrfChoices
from upstream.extraction.models.decisions import Decision
from upstream.extraction.models.model import ModelSpec
from upstream.extraction.models.sampling import (
    EveryToken,
    RandomOutside,
    Sampling,
    Window,
    draws_of,
)
from upstream.extraction.models.training import GoldStandard, train_model
from upstream.extraction.text.labels import labelling
from upstream.extraction.text.tokens import tokenize

mpl.use("agg")
WINDOWS = (1, 2, 3, 4, 6, 8, 10)
PROBABILITIES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
SAVED = {"dpi": 80, "metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}


@dataclass(frozen=True)
class Point:
    """What one way of sampling gives.

    Attributes:
        kept: Part of the tokens that is trained on.
        seconds: Of training, features included; CPU of this process.
        judgement: On documents that were not trained on.
    """

    kept: float
    seconds: float
    judgement: Judgement


def main() -> None:
    """Train each, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data(parser)
    add_corpus(parser, 150)
    parser.add_argument("--pictures", default="docs/images", help="a folder")
    told = parser.parse_args()
    parts = chosen_parts(told)
    gold = GoldStandard(parts.train, parts.tune, phrases_for(told))
    ways: dict[str, dict[float, Sampling]] = {
        "window": {each: Window(near=each) for each in WINDOWS},
        "random O": {each: RandomOutside(probability=each) for each in PROBABILITIES},
    }
    every = point(EveryToken(), gold, parts.judge)
    found: dict[str, dict[float, Point]] = {}
    print(
        f"{told.corpus}: {len(parts.train)} documents trained on, {len(parts.judge)} "
        "judged\n\n| sampling | tokens kept | P | R | F1 | char P | char R "
        "| spans unseen | documents clean | training, s of CPU |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    for way, settings in ways.items():
        found[way] = {}
        for setting, sampling in settings.items():
            found[way][setting] = each = point(sampling, gold, parts.judge)
            print(_line(f"{way} {setting:g}", each), flush=True)
    print(_line("every token", every))
    _draw(found, every, Path(told.pictures) / f"extraction-sampling-{told.corpus}.png")


def point(sampling: Sampling, gold: GoldStandard, held) -> Point:
    """Return what one way of sampling gives."""
    spec = ModelSpec(
        training=CrfChoices(algorithm="ap", iterations=20),
        sampling=sampling,
        rules="none",
    )
    kept = total = 0
    for each in gold.train:
        labels = labelling(tokenize(each.document.text), each.spans).labels
        mask = sampling.keep(labels, draws_of(spec.seed, each.document.id))
        kept, total = kept + int(mask.sum()), total + len(labels)
    before = time.process_time()
    model = replace(train_model("sampled", spec, gold), decision=Decision())
    seconds = time.process_time() - before
    return Point(kept / total, seconds, judge(held, model.finder().find))


def _line(name: str, each: Point) -> str:
    found = each.judgement
    strict, characters = found.strict(), found.characters
    return (
        f"| {name} | {each.kept:.1%} | {strict.precision:.4f} | {strict.recall:.4f} "
        f"| {strict.f1:.4f} | {characters.precision:.4f} | {characters.recall:.4f} "
        f"| {found.unseen} | {found.clean} of {len(found.documents)} "
        f"| {each.seconds:.0f} |"
    )


def _draw(found: Mapping[str, Mapping[float, Point]], every: Point, path: Path) -> None:
    figure, panels = plt.subplots(1, 4, figsize=(15, 3.6), layout="constrained")
    for panel, (way, points) in zip(panels, found.items(), strict=False):
        _draw_measures(panel, list(points), list(points.values()), every)
        panel.set_xlabel({"window": "window, tokens to each side"}.get(way, "p of O"))
    for way, points in found.items():
        ordered = sorted([*points.values(), every], key=lambda each: each.kept)
        kept = [each.kept for each in ordered]
        for side, measure in (("P", "precision"), ("R", "recall")):
            values = [getattr(each.judgement.characters, measure) for each in ordered]
            panels[2].plot(kept, values, marker=".", label=f"{way}, {side}")
        panels[3].plot(
            list(points), [each.seconds for each in points.values()], label=way
        )
    panels[2].set_xlabel("part of the tokens trained on")
    panels[2].set_title("characters", fontsize=8)
    panels[2].legend(fontsize=7)
    panels[3].set_xscale("log")
    panels[3].set_xlabel("window, or p of O")
    panels[3].set_title("training, s of CPU", fontsize=8)
    panels[3].legend(fontsize=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, **SAVED)
    plt.close(figure)


def _draw_measures(panel, places, points, every) -> None:
    for colour, measure in (("tab:blue", "precision"), ("tab:green", "recall")):
        for style, side in (("-", "strict"), ("--", "characters")):
            values = [_value(each, side, measure) for each in points]
            panel.plot(places, values, style, color=colour, label=f"{side}, {measure}")
            whole = _value(every, side, measure)
            panel.axhline(whole, color=colour, linestyle=":", linewidth=0.6)
    panel.legend(fontsize=6)


def _value(each: Point, side: str, measure: str) -> float:
    found = each.judgement
    counts = found.strict() if side == "strict" else found.characters
    return getattr(counts, measure)


if __name__ == "__main__":
    main()
