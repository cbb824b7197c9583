"""Which kind of copy a file declares, by its keys."""

from pathlib import Path
from typing import Final

from privacy.errors import CuratorError
from upstream.manifests.yaml_nodes import read_yaml

TEXTS: Final = "anonymize.texts"
_KINDS: Final = {"table": "anonymize.tables"}


def job_kind_of(file: Path) -> str:
    """Return the kind of job that a file is for; of texts, where it does not tell.

    What is wrong with the file, the job says.
    """
    try:
        content = read_yaml(file).content
    except CuratorError:
        return TEXTS
    keys = content if isinstance(content, dict) else {}
    return next((kind for key, kind in _KINDS.items() if key in keys), TEXTS)
