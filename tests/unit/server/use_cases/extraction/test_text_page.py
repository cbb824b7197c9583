"""The files that the page about texts shows are such as are read."""

import re
from pathlib import Path

import pytest
import yaml

from server.use_cases.extraction.declarations import Texts
from server.use_cases.extraction.pipelines.files import Pipeline
from server.use_cases.extraction.term_lists import TermLists
from upstream.extraction.models.model import ModelSpec
from upstream.extraction.reading.specs import (
    ColumnFiles,
    Database,
    FhirFiles,
    Hl7Files,
    TextFiles,
    XmlFiles,
)

PAGE = Path(__file__).parents[5] / "docs" / "text.md"
_FORM = re.compile(r"```yaml\n# (\S+)\n(.*?)```", re.DOTALL)
SHOWN = dict(_FORM.findall(PAGE.read_text("utf-8")))
OTHERS = {
    "pipeline.yaml": Pipeline,
    "symptoms.yaml": TermLists,
    "spec.yaml": ModelSpec,
}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_a_file_of_the_page_declares_what_is_read(name):
    OTHERS.get(name, Texts).model_validate(yaml.safe_load(SHOWN[name]))


def test_the_page_shows_a_file_of_each_kind_of_source_with_most_of_its_keys():
    declared = [
        Texts.model_validate(yaml.safe_load(shown))
        for name, shown in SHOWN.items()
        if name not in OTHERS
    ]
    shown = {type(one.source): one.source for one in declared if one.source}
    kinds = {TextFiles, ColumnFiles, Database, Hl7Files, FhirFiles, XmlFiles}
    assert shown.keys() == kinds
    for kind, source in shown.items():
        for key in kind.model_fields:
            assert key in source.model_fields_set or f"`{key}" in PAGE.read_text()


def test_every_yaml_of_the_page_has_a_name():
    assert PAGE.read_text("utf-8").count("```yaml") == len(SHOWN)
