"""The R package, where R is: built, checked, and its vignette asked of the demo."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.client.run_notebook import demo

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients/r"
NEEDED = ("httr2", "jsonlite", "tibble", "testthat", "knitr")

pytestmark = pytest.mark.thorough


def has_r():
    if shutil.which("Rscript") is None:
        return False
    named = ", ".join(f'"{name}"' for name in NEEDED)
    there = f"quit(status = !all(c({named}) %in% rownames(installed.packages())))"
    return subprocess.run(["Rscript", "-e", there], check=False).returncode == 0


needs_r = pytest.mark.skipif(
    not has_r(), reason=f"R or one of its packages is not here: {', '.join(NEEDED)}"
)


def run(*command, folder, **environment):
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_r
def test_r_checks_the_package_and_its_tests(tmp_path):
    run("R", "CMD", "build", "--no-build-vignettes", PACKAGE, folder=tmp_path)
    (built,) = tmp_path.glob("curator_*.tar.gz")
    options = ("--no-manual", "--no-build-vignettes", "--ignore-vignettes")
    told = run(
        *("R", "CMD", "check", *options, built),
        folder=tmp_path,
        _R_CHECK_FORCE_SUGGESTS_="false",
    )
    assert "Status: OK" in told


@needs_r
def test_the_vignette_gets_an_answer_of_the_demo(tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    run("R", "CMD", "INSTALL", "-l", library, PACKAGE, folder=tmp_path)
    page = PACKAGE / "vignettes/curator.Rmd"
    with demo() as server:
        run(
            *("Rscript", "-e", f'knitr::knit("{page}", "page.md", quiet = TRUE)'),
            folder=tmp_path,
            R_LIBS_USER=str(library),
            **server,
        )
    shown = (tmp_path / "page.md").read_text("utf-8")
    assert "stays_low stays_high" in shown
    assert re.search(r"epsilon 0\.2, 4\.8 left; intervals hold 95 %", shown)
    assert "one by one" in shown
    assert "[1] TRUE" in shown  # what one table answers adds up
    assert "did you mean age" in shown or "its columns" in shown  # the refusal's hint
    errors = re.findall(r"^## Error.*$", shown, re.MULTILINE)
    assert len(errors) == 1, errors  # the one that the page shows on purpose


def test_the_package_exports_what_it_documents():
    written = (PACKAGE / "NAMESPACE").read_text("utf-8")
    exported = set(re.findall(r"^export\((\w+)\)", written, re.MULTILINE))
    pages = "".join(p.read_text("utf-8") for p in (PACKAGE / "man").glob("*.Rd"))
    assert exported == set(re.findall(r"\\alias\{(curator\w*)\}", pages)) & exported
    sources = "".join(p.read_text("utf-8") for p in (PACKAGE / "R").glob("*.R"))
    assert all(f"{name} <- function" in sources for name in exported)
