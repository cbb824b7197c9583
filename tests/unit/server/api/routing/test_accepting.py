import pytest

from server.api.forms.forms import Form
from server.api.routing.accepting import preferred
from server.api.schemas.problems import Problem

ARROW = "application/vnd.apache.arrow.stream"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Form.JSON),
        (" , ", Form.JSON),
        ("*/*", Form.JSON),
        ("application/json", Form.JSON),
        ("application/*", Form.JSON),
        ("text/csv", Form.CSV),
        ("text/*", Form.CSV),
        ("TEXT/CSV; charset=utf-8; header=present", Form.CSV),
        (ARROW, Form.ARROW),
        (f"{ARROW}, */*", Form.ARROW),
        ("text/csv, */*", Form.CSV),
        ("text/csv, application/json", Form.JSON),
        ("text/csv, application/json;q=0.9", Form.CSV),
        ("*/*;q=0.1, text/csv;q=0.2", Form.CSV),
        ("application/*, application/json;q=0", Form.ARROW),
        ("text/csv;q=0, */*;q=0.5", Form.JSON),
        (f"application/json;q=0,text/csv;q=0.001,{ARROW};q=0.002", Form.ARROW),
        ("text/html, application/xhtml+xml, */*;q=0.8", Form.JSON),
        ("nonsense, text/csv", Form.CSV),
        ("text/csv;q=2, */*;q=0.1", Form.JSON),
    ],
)
def test_the_most_wanted_form_is_taken(accept, form):
    assert preferred(accept) is form


@pytest.mark.parametrize(
    "accept",
    [
        *("text/html", "application/vnd.apache.arrow.file", "image/*", "*/csv", "csv"),
        *("text/csv;q=0", "*/*;q=0", "application/json;q=0.0", "text/csv;q=nan", "*"),
        "application/problem+json",
    ],
)
def test_what_is_not_there_is_refused_with_what_is(accept):
    with pytest.raises(Problem) as refused:
        preferred(accept)
    assert refused.value.code == "not_acceptable"
    assert all(form.value in refused.value.detail for form in Form)
