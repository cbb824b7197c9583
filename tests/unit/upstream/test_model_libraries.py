import pytest

from upstream.errors import MissingLibraryError
from upstream.model_libraries import library


def test_a_library_that_is_there_is_returned():
    assert library("scipy.sparse").csr_matrix((2, 3)).shape == (2, 3)


def test_one_that_is_missing_says_what_to_type():
    with pytest.raises(
        MissingLibraryError, match=r"needs no_such_library, .*MODELS=yes"
    ):
        library("no_such_library.models")
