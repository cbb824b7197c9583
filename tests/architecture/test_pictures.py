"""The pictures of the docs are what their script draws; each has words beside it."""

import importlib.util
import re
from xml.etree import ElementTree as ET

import pytest

from tests.architecture.test_docs import DOCS, PAGES

SCRIPT = DOCS / "images/pictures.py"
SPEC = importlib.util.spec_from_file_location("pictures", SCRIPT)
PICTURES = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(PICTURES)


@pytest.mark.parametrize("name", PICTURES.PICTURES)
def test_a_picture_is_what_the_script_draws(name):
    assert (DOCS / "images" / name).read_text("utf-8") == PICTURES.drawn(name)


@pytest.mark.parametrize("name", PICTURES.PICTURES)
def test_a_picture_is_whole_and_inside_its_frame(name):
    root = ET.fromstring(PICTURES.drawn(name))  # noqa: S314 - our own
    *_, width, height = map(int, root.get("viewBox").split())
    for box in (one for one in root.iter() if one.tag.endswith("rect")):
        assert int(box.get("x", 0)) + int(box.get("width")) <= width
        assert int(box.get("y", 0)) + int(box.get("height")) <= height


def test_every_picture_of_every_page_has_words():
    found = {
        (page, words)
        for page in PAGES
        for words in re.findall(r"!\[([^\]]*)\]\(", page.read_text("utf-8"))
    }
    assert len(found) > 10
    assert [page for page, words in found if len(words) <= 10] == []
