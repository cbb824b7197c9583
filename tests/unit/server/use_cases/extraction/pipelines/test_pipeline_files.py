import pytest
from pydantic import ValidationError

from server.use_cases.extraction.pipelines.files import CategoryRule, CodeRule


def test_a_code_is_read_without_the_signs_that_are_dropped():
    rule = CodeRule(kind="code", pattern="[A-Z][0-9]{2}[0-9]?", drop=".")
    read = rule.normaliser()
    assert read("E11.9").value == "E119"
    assert read("none of it").value is None


def test_a_code_whose_form_is_no_pattern_is_refused():
    with pytest.raises(ValidationError):
        CodeRule(kind="code", pattern="[A-")


def test_a_category_is_found_whatever_its_case_and_else_is_another():
    known = {"Male": "M", "female": "F"}
    assert CategoryRule(kind="category", map=known).normaliser()("MALE").value == "M"
    assert CategoryRule(kind="category", map=known).normaliser()("x").value is None
    rest = CategoryRule(kind="category", map=known, other="U").normaliser()
    assert (rest("Female").value, rest("x").value) == ("F", "U")
