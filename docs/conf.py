"""Sphinx reads this: MyST pages, the furo theme, nothing from the network.

Pages are plain Markdown that reads well on a forge too. What leaves ``docs`` (sources,
tests, CONTRIBUTING) is a link there and a path here.
"""

import posixpath
import re

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "Curator"
author = "The Curator authors"
project_copyright = "The Curator authors, Apache-2.0"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"exclude-members": "asker, count, index"}
myst_heading_anchors = 4
nb_execution_mode = "off"  # what notebooks show was kept by `make notebook`
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "Curator"
html_show_sourcelink = False

_LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)\s#]*)(?:#[^)\s]*)?\)")


def setup(app: Sphinx) -> None:
    """Name what Sphinx does not know by itself."""
    app.add_lexer("csv", TextLexer)
    app.add_lexer("ipython", TextLexer)
    app.connect("source-read", _name_what_lies_outside)
    app.connect("source-read", _list_other_pages)


def _name_what_lies_outside(_: Sphinx, page: str, source: list[str]) -> None:
    def named(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", page, "..", link[2]))
        inside = path.startswith("docs/")
        return link[0] if inside else f"{link[1]} (`{path}`)"

    source[0] = _LINK.sub(named, source[0])


def _list_other_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """List under "More" what the index does not place in its own lists."""
    if page != "index":
        return
    placed = set(re.findall(r"^[\w/-]+$", source[0], re.MULTILINE)) | {"index"}
    others = sorted(
        found
        for found in app.env.found_docs - placed
        if not found.startswith(("adr/", "proofs/"))
    )
    if others:
        lines = "\n".join(others)
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: More\n\n{lines}\n```\n"
