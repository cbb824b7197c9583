"""A directory that a stranger filled with modules, and what its code left behind."""

import os
import sys

MODULES = (
    "json", "duckdb", "runpy", "pathlib", "typing", "typer", "sqlglot", "pydantic",
    "sitecustomize", "usercustomize",
)  # fmt: skip
PACKAGES = (
    "server", "privacy", "query_lang", "engines", "upstream", "budget", "mechanisms",
    "release", "curator_client",
)  # fmt: skip
OURS = ("main", "parser_child", "start_module", "parse", "settings")
VARIABLES = ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PYTHONUSERBASE")


class StrangersFolder:
    """Modules and packages under our names; each leaves its name when it is run."""

    def __init__(self, folder):
        self.path = folder / "stranger"
        self._seen = folder / "seen"
        self._seen.mkdir()
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        user = self.path / "lib" / version / "site-packages"  # below PYTHONUSERBASE
        for place in (self.path, user):
            place.mkdir(parents=True)
            self._fill(place)

    def _fill(self, place):
        for name in MODULES:
            (place / f"{name}.py").write_text(self._code(name))
        for name in PACKAGES:
            (place / name).mkdir()
            for module in ("__init__", "__main__", *OURS):
                (place / name / f"{module}.py").write_text(self._code(name))

    def _code(self, name):
        return f"import os\nos.close(os.open({str(self._seen / name)!r}, os.O_CREAT))\n"

    def environment(self):
        """Return this process's environment, steered into the folder."""
        steered = {
            "PYTHONPATH": f":{self.path}",  # the empty part is the working directory
            "PYTHONSTARTUP": str(self.path / "json.py"),
            "PYTHONUSERBASE": str(self.path),
            "PYTHONINSPECT": "",
        }
        return {**os.environ, **steered}

    def what_ran(self):
        """Return the names of the stranger's modules that were run."""
        return sorted(path.name for path in self._seen.iterdir())
