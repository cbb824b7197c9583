"""Models that benchmarks train, with two views of one training and its seconds."""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from upstream.extraction.measures.report import Judgement, judge
from upstream.extraction.models.model import Aim, ModelSpec, TextModel
from upstream.extraction.models.model_files import model_bytes, read_model
from upstream.extraction.models.training import GoldStandard, aimed, train_model
from upstream.extraction.text.spans import AnnotatedDocument
from upstream.extraction.text.tokens import tokenize

RECALL = Aim(prefer="recall")


@dataclass(frozen=True)
class Judged:
    """How good a model is, and how fast it was here.

    Attributes:
        judgement: On documents that it never saw.
        tokens: Of these documents.
        seconds: Of tagging them, in one process.
    """

    judgement: Judgement
    tokens: int
    seconds: float


def add_spec(parser: argparse.ArgumentParser) -> None:
    """Add the options of how models are trained, and where one is kept."""
    parser.add_argument(
        "--spec", default="{}", help="a ModelSpec as JSON; what is left out: defaults"
    )
    parser.add_argument(
        "--model", type=Path, help="read this model if it is there; else write it"
    )


def spec_of(told: str, **more: object) -> ModelSpec:
    """Return the model spec of a JSON text."""
    return ModelSpec.model_validate({**more, **json.loads(told)})


def trained(
    name: str, spec: ModelSpec, gold: GoldStandard, kept: Path | None = None
) -> TextModel:
    """Return a model, told on stderr how long it took; from a file if it is there."""
    if kept is not None and kept.exists():
        return read_model(kept.read_bytes())
    before, used = time.perf_counter(), time.process_time()
    model = train_model(name, spec, gold)
    took, busy = time.perf_counter() - before, time.process_time() - used
    print(f"{name}: trained in {took:.0f} s ({busy:.0f} s of CPU)", file=sys.stderr)
    if kept is not None:
        kept.write_bytes(model_bytes(model))
    return model


def for_recall(
    model: TextModel, tune: Iterable[AnnotatedDocument], aim: Aim = RECALL
) -> TextModel:
    """Return the same model with thresholds for another aim, without training again."""
    return aimed(model, list(tune), aim)


def judged(model: TextModel, gold: Sequence[AnnotatedDocument]) -> Judged:
    """Return how good a model is on documents, and how long tagging took."""
    finder = model.finder()
    texts = [each.document.text for each in gold]
    before = time.perf_counter()
    found = list(finder.find(texts))
    seconds = time.perf_counter() - before
    return Judged(
        judge(gold, lambda _: found),
        sum(len(tokenize(each)) for each in texts),
        seconds,
    )


def speed_of(each: Judged) -> str:
    """Return a sentence about tagging."""
    rate = each.tokens / each.seconds if each.seconds else 0
    return (
        f"{each.tokens:,} tokens tagged in {each.seconds:.1f} s in one process "
        f"({rate:,.0f} a second; benchmarks.extraction.speed measures it)"
    )
