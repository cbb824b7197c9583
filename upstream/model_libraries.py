"""SciPy and scikit-learn, which a server's image does without.

They train models by Bayes and support vectors, compare models fold by fold, and part
patients by DAST. Whatever else runs does not need their 160 MB.
"""

from importlib import import_module
from types import ModuleType

from upstream.errors import MissingLibraryError


def library(name: str) -> ModuleType:
    """Return one of their modules; reading it takes up to seconds.

    Raises:
        MissingLibraryError: It is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        raise MissingLibraryError(name.partition(".")[0]) from None
