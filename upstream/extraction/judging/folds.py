"""Cross-validation: each document is judged by a model that has not seen it."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from upstream.extraction.measures.report import Judgement, judge
from upstream.extraction.models.model import ModelSpec, TextModel
from upstream.extraction.models.training import (
    GoldStandard,
    Progress,
    silent,
    train_model,
)
from upstream.extraction.text.spans import AnnotatedDocument


def folds_of(
    documents: Sequence[AnnotatedDocument], count: int, *, by: str = "", seed: int = 1
) -> list[list[int]]:
    """Return the indexes of documents in each fold.

    Args:
        documents: All documents.
        count: How many folds.
        by: A field of documents, such as a patient's number: documents that share it
            are in one fold, so that no model is judged on a patient whom it knows.
        seed: Of who is in which fold.

    Raises:
        ValueError: There are fewer documents, or patients, than folds, or a document
            without the field.
    """
    lacking = [each for each in documents if by and by not in each.document.fields]
    if lacking:
        fields = ", ".join(sorted(lacking[0].document.fields)) or "none"
        message = (
            f"a document has no field {by!r}: name one that all have (it has {fields}; "
            "fields come of a gold standard's id_pattern, or of fields in JSON)"
        )
        raise ValueError(message)
    keys = [
        each.document.fields[by] if by else str(at) for at, each in enumerate(documents)
    ]
    groups = sorted(set(keys))
    if not 2 <= count <= len(groups):  # noqa: PLR2004 - to train on one, judge another
        message = (
            f"{count} folds of {len(groups)} documents or patients: take 2 or more, "
            "and no more than there are"
        )
        raise ValueError(message)
    order = np.random.default_rng(seed).permutation(len(groups))
    fold = {groups[at]: place % count for place, at in enumerate(order.tolist())}
    return [
        [at for at, key in enumerate(keys) if fold[key] == number]
        for number in range(count)
    ]


def cross_validate(
    spec: ModelSpec,
    gold: GoldStandard,
    folds: Sequence[Sequence[int]],
    progress: Progress = silent,
    train: Callable[..., TextModel] = train_model,
) -> Iterator[Judgement]:
    """Yield how good the model of all other folds is on each fold."""
    for number, fold in enumerate(folds):
        progress("fold", number, len(folds))
        held = set(fold)
        others = [each for at, each in enumerate(gold.train) if at not in held]
        model = train(
            "fold", spec, GoldStandard(others, (), gold.dictionaries), progress
        )
        yield judge([gold.train[at] for at in fold], model.finder().find)
