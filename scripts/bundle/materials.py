"""The bill of materials (SBOM) of a bundle, in CycloneDX's JSON."""

import subprocess
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

VERSION = SchemaVersion.V1_6


def write_bill_of_materials(root: Path, python: Path, target: Path) -> None:
    """Write what an environment holds: packages, versions, licences, who needs what.

    Raises:
        ValueError: What was written does not fit CycloneDX's schema.
    """
    words = [sys.executable, "-m", "cyclonedx_py", "environment"]
    options = {
        "--pyproject": root / "pyproject.toml",
        "--mc-type": "application",
        "--spec-version": VERSION.to_version(),
        "--output-format": "JSON",
        "--output-file": target,
    }
    pairs = [str(word) for pair in options.items() for word in pair]
    subprocess.run(
        [*words, "--output-reproducible", "--gather-license-texts", *pairs, python],
        check=True,
    )
    require_valid(target)


def require_valid(path: Path) -> None:
    """Hold a file against CycloneDX's schema.

    Raises:
        ValueError: It does not fit.
    """
    problem = JsonStrictValidator(VERSION).validate_str(path.read_text("utf-8"))
    if problem is not None:
        message = f"{path.name} does not fit its schema: {problem}"
        raise ValueError(message)
