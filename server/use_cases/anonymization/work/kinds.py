"""Which kind of copy a file declares, by its keys."""

from pathlib import Path
from typing import Final

from privacy.errors import CuratorError
from upstream.manifests.yaml_nodes import read_yaml

MOST_PREVIEWED: Final = 1_000
"""Documents of a preview."""

_TEXTS: Final = "anonymize.texts"
_KINDS: Final = {"table": "anonymize.tables", "codes": "anonymize.codes"}


def job_kind_of(file: Path) -> str:
    """Return the kind of job that a file is for; of texts, where it does not tell.

    What is wrong with the file, the job says.
    """
    keys = _keys(file)
    return next((kind for key, kind in _KINDS.items() if key in keys), _TEXTS)


def has_k(file: Path) -> bool:
    """Whether a file declares a k, or nothing of texts: several can be tried then."""
    return job_kind_of(file) != _TEXTS or "statistical" in _keys(file)


def _keys(file: Path) -> set[object]:
    try:
        content = read_yaml(file).content
    except CuratorError:
        return set()
    return set(content) if isinstance(content, dict) else set()
