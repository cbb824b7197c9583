"""What can be done with a published release, as steps: written once for both clients.

Each public method of ``ReleaseSteps`` is a method of ``Release`` and ``AsyncRelease``.
"""

from __future__ import annotations

import hashlib
import io
import json
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from curator_client.answers.refusals import CuratorError
from curator_client.answers.release_answer import ReleaseAnswer
from curator_client.connection.exchange import (
    Patience,
    Request,
    Steps,
    document_of,
    exchange,
)
from curator_client.plots.drawing import draw
from curator_client.plots.heatmap import draw_heatmap
from curator_client.releases.fidelity import MOST_GROUPS, compared, report
from curator_client.releases.signatures import is_signed
from curator_client.releases.synthetic import synthetic_rows
from curator_client.tables.exports import optional

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from curator_client.tables.listing import Listing

_CELLS = "cube.csv"
_TOLD = ("dataset", "snapshot", "strategy")  # of the manifest, with each data frame


class BrokenDownloadError(CuratorError):
    """A file is not the one that the release's manifest names."""


class ReleaseSteps:
    """One published release.

    Args:
        document: What the server says of it, with its manifest.
        patience: Of retries.
    """

    def __init__(self, document: dict[str, Any], patience: Patience) -> None:
        self.document = document
        self._patience = patience
        self._cells: pd.DataFrame | None = None

    # -- questions --------------------------------------------------------------

    def query(self, sql: str, *, confidence: float = 0.95) -> Steps[ReleaseAnswer]:
        """Ask the release in SQL; it costs nothing.

        Args:
            sql: One SELECT from the release's name, over its dimensions.
            confidence: Of each interval by itself.

        Raises:
            SqlRefusedError: The question is refused; the message shows where.

        Example: ``release.query("SELECT sex, COUNT(*) AS n FROM wards GROUP BY sex")``
        """
        body = {"sql": sql, "confidence": confidence}
        path = f"{self._path()}/queries"
        headers = {"Content-Type": "application/json"}
        request = Request("POST", path, json.dumps(body).encode(), headers)
        reply = yield from exchange(request, self._patience)
        return ReleaseAnswer(document_of(reply, request, sql), published=self._paid())

    def cuboid(
        self, *dimensions: str, confidence: float = 0.95
    ) -> Steps[ReleaseAnswer]:
        """Return the counts over some dimensions, all others summed over.

        Args:
            dimensions: Names, any of ``dimensions``; none for the total.
            confidence: Of each interval by itself.

        Raises:
            ValueError: The release has no such dimension, or one is named twice.
            CuratorRefusalError: They span more than 10,000 groups.

        Example: ``release.cuboid("age", "sex").to_pandas()``
        """
        known = self._names()
        for name in dimensions:
            if name not in known:
                message = f"{name!r} is no dimension; there are: {', '.join(known)}"
                raise ValueError(message)
        if len(set(dimensions)) < len(dimensions):
            message = f"name each dimension once: {', '.join(dimensions)}"
            raise ValueError(message)
        shown = "".join(f"{name}, " for name in dimensions)
        grouped = f" GROUP BY {', '.join(dimensions)}" if dimensions else ""
        sql = f"SELECT {shown}COUNT(*) AS n FROM {self.document['name']}{grouped}"  # noqa: S608 - names of the manifest; the server checks it
        return (yield from self.query(sql, confidence=confidence))

    # -- pictures -----------------------------------------------------------------

    def histogram(self, dimension: str, *, ax: Axes | None = None) -> Steps[Axes]:
        """Draw the counts over one dimension with their 95 % intervals.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: The release has no such dimension.
        """
        answer = yield from self.cuboid(dimension)
        drawn = draw(answer, "n", ax, as_bars=True)
        return drawn[0] if isinstance(drawn, list) else drawn

    def heatmap(self, across: str, down: str, *, ax: Axes | None = None) -> Steps[Axes]:
        """Draw the counts over two dimensions as shades.

        Args:
            across: The dimension along the horizontal axis.
            down: The dimension along the vertical axis.
            ax: Axes to draw on; else new ones are made.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: The release has no such dimension.
        """
        answer = yield from self.cuboid(down, across)
        return draw_heatmap(answer, ax)

    # -- the whole cube -------------------------------------------------------------

    def to_pandas(self) -> Steps[pd.DataFrame]:
        """Return every cell: its values, estimate, variance and half-width.

        ``frame.attrs`` says which release they are of, and what was paid for it.
        The file is compared with its digest in the manifest.

        Raises:
            ImportError: pandas is not installed.
            BrokenDownloadError: The file is another than the manifest names.
            NotFoundError: The cells are too many to be listed; ask by ``query``.
        """
        if self._cells is None:
            content = yield from self._file(_CELLS)
            self._cells = _frame(content, self._dimensions())
            self._cells.attrs.update(self._about())
        return self._cells.copy()

    def synthetic(
        self, n: int | None = None, *, seed: int | None = None
    ) -> Steps[pd.DataFrame]:
        """Return made-up rows that are distributed like the release's estimates.

        They come from published numbers alone, so they cost nothing and are nobody's;
        what the release does not know, they do not know either.

        Args:
            n: How many; the release's own (noisy) total where it is left out.
            seed: For the same rows again.

        Raises:
            ImportError: pandas is not installed.
        """
        cells = yield from self.to_pandas()
        return synthetic_rows(cells, self._names(), n, seed)

    def fidelity(self, rows: pd.DataFrame) -> Steps[Listing]:
        """Report how well made-up rows follow the release, for nothing.

        Each column and each pair is compared with the release's own noisy counts. No
        row behind the release is looked at: a score against raw data is an answer
        about people, and has to be paid for.

        Args:
            rows: Of ``synthetic()``, or of whatever made rows of the release.

        Returns:
            A row a column or pair: ``distance``, the total variation distance of the
            shares (0 equal, 1 disjoint); ``by_chance``, the distance that so many
            draws have anyway; ``noise``, how far the release's own shares may be from
            what it counted; ``outside``, how many groups leave its 95 % intervals.

        Raises:
            ValueError: A dimension is no column of the rows.
        """
        names = self._names()
        missing = [name for name in names if name not in rows]
        if missing:
            message = f"the rows have no column {', '.join(missing)}"
            raise ValueError(message)
        sizes = {str(d["name"]): len(d["values"]) for d in self._dimensions()}
        lines, skipped = [], []
        for chosen in (*((name,) for name in names), *combinations(names, 2)):
            title = ", ".join(chosen)
            if prod(sizes[name] for name in chosen) > MOST_GROUPS:
                skipped.append(title)
                continue
            answer = yield from self.cuboid(*chosen)
            values = rows[list(chosen)].itertuples(index=False, name=None)
            lines.append(compared(title, answer, values))
        return report(lines, skipped)

    # -- trust ----------------------------------------------------------------------

    def verify(self, public_key: str | None = None) -> Steps[bool]:
        """Whether the manifest is signed, by a key that you know or by the server's.

        Args:
            public_key: 64 hexadecimal digits that came to you on another way; where it
                is left out the server is asked for its key, which shows only that
                nothing was changed since.

        Raises:
            ImportError: The library ``cryptography`` is not installed.
        """
        if public_key is None:
            request = Request("GET", "/v1/releases/key")
            reply = yield from exchange(request, self._patience)
            public_key = str(document_of(reply, request, None)["public_key"])
        return is_signed(self._manifest(), public_key)

    # -- what they share ----------------------------------------------------------

    def _path(self) -> str:
        return f"/v1/releases/{quote(str(self.document['id']), safe='')}"

    def _manifest(self) -> dict[str, Any]:
        return dict(self.document["manifest"])

    def _dimensions(self) -> list[dict[str, Any]]:
        return list(self._manifest()["dimensions"])

    def _paid(self) -> dict[str, Any]:
        """Return the release's name and what was paid for it, once."""
        loss = self._manifest()["loss"]
        told = {name: str(loss[name]) for name in ("epsilon", "rho") if name in loss}
        return {"name": str(self.document["name"]), **told}

    def _about(self) -> dict[str, Any]:
        """Return what its cells are of, for a data frame's attributes."""
        told = {name: self._manifest().get(name) for name in _TOLD}
        return {"release": {"id": str(self.document["id"]), **self._paid()}, **told}

    def _names(self) -> list[str]:
        return [str(dimension["name"]) for dimension in self._dimensions()]

    def _file(self, name: str) -> Steps[bytes]:
        table, _, form = name.partition(".")
        given = f"format={form}" + ("" if name == _CELLS else f"&table={table}")
        request = Request("GET", f"{self._path()}/download?{given}")
        reply = yield from exchange(request, self._patience)
        if not reply.is_success:
            document_of(reply, request, None)  # raises the refusal
        told = self._manifest()["files"].get(name, {}).get("sha256")
        if hashlib.sha256(reply.content).hexdigest() != told:
            message = f"{name} is not the file that the manifest names"
            raise BrokenDownloadError(message)
        return reply.content


def _frame(content: bytes, dimensions: list[dict[str, Any]]) -> pd.DataFrame:
    """Read the cells; NULL is empty, and texts stay texts."""
    pandas = optional("pandas", "to_pandas()")
    texts = {
        str(dimension["name"]): "object"
        for dimension in dimensions
        if dimension["type"] in {"text", "date", "timestamp", "decimal"}
    }
    frame: pd.DataFrame = pandas.read_csv(
        io.BytesIO(content), dtype=texts, keep_default_na=False, na_values=[""]
    )
    return frame
