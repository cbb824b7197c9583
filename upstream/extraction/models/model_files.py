"""Models as bytes: arrays and a description, and nothing that is executed when read."""

import io
import json
import zipfile
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from upstream.extraction.features.phrases import dictionary_of, phrases_of
from upstream.extraction.models.chains.weights import ChainWeights
from upstream.extraction.models.decisions import Decision
from upstream.extraction.models.model import ModelSpec, TextModel
from upstream.extraction.models.rules import Rule, Rules

FORMAT = 1
_DESCRIPTION = "description"


class ModelFileError(ValueError):
    """The bytes are no model of ours, or one of another version."""


def model_bytes(model: TextModel) -> bytes:
    """Return a model as the bytes of one file, the same for equal models."""
    weights = model.weights
    description = {
        "format": FORMAT,
        "name": model.name,
        "spec": model.spec.model_dump(mode="json"),
        "labels": weights.labels,
        "attributes": weights.attributes,
        "threshold": model.decision.threshold,
        "thresholds": dict(model.decision.thresholds),
        "rules": {
            form: [rule.label, rule.score] for form, rule in model.rules.rules.items()
        },
        "dictionaries": {each.name: phrases_of(each) for each in model.dictionaries},
        "card": dict(model.card),
    }
    written = json.dumps(description, ensure_ascii=False, sort_keys=True).encode()
    return _archive(
        {
            _DESCRIPTION: np.frombuffer(written, dtype=np.uint8),
            "states": weights.states,
            "transitions": weights.transitions,
            "intercept": weights.intercept,
        }
    )


def _archive(arrays: Mapping[str, npt.NDArray[np.generic]]) -> bytes:
    """Return arrays as numpy's own archive, but without the time of day."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return held.getvalue()


def read_model(content: bytes) -> TextModel:
    """Return the model of these bytes.

    Raises:
        ModelFileError: They are none.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            told = json.loads(arrays[_DESCRIPTION].tobytes())
            states, transitions, intercept = (
                arrays[name] for name in ("states", "transitions", "intercept")
            )
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        message = "the file is no model: train it again, or restore it"
        raise ModelFileError(message) from error
    if told.get("format") != FORMAT:
        message = f"the model has format {told.get('format')}, and {FORMAT} is known"
        raise ModelFileError(message)
    labels, attributes = tuple(told["labels"]), tuple(told["attributes"])
    shapes = (len(attributes) + 1, len(labels)), (len(labels),) * 2, (len(labels),)
    if (states.shape, transitions.shape, intercept.shape) != shapes:
        message = "the model's arrays do not fit its labels: restore the file"
        raise ModelFileError(message)
    try:
        spec = ModelSpec.model_validate(told["spec"])
    except ValidationError as error:
        message = "the model was trained by another version: train it again"
        raise ModelFileError(message) from error
    return TextModel(
        told["name"],
        spec,
        ChainWeights(labels, attributes, states, transitions, intercept),
        Decision(told["threshold"], told["thresholds"]),
        Rules({form: Rule(*rule) for form, rule in told["rules"].items()}),
        tuple(
            dictionary_of(name, phrases)
            for name, phrases in told["dictionaries"].items()
        ),
        told["card"],
    )
