"""Actions of entries that are written when work on rows has ended.

How long that took is told to custodians alone (PRIVACY 2), so whatever every process
looks at, and strangers wait for, must not move with these entries.
"""

from typing import Final

PUBLISHED: Final = "release.publish"
FAILED: Final = "release.fail"
RELEASE_ENDS: Final = frozenset({PUBLISHED, FAILED})
"""Of entries that tell when the work on a release has ended."""

REFUSED_OVERLAP: Final = "overlap.refused"
"""Of the entry that a refusal of an overlap leaves."""
PROPOSED: Final = "proposal.create"
LOADED: Final = "dataset.load"
ACTIVATED: Final = "snapshot.activate"

TEXTS_BEGUN: Final = "text.begin"
"""Of the entry that says that a job about texts was asked for (ADR 38)."""

CHANGING_NO_RIGHT: Final = RELEASE_ENDS | {REFUSED_OVERLAP, PROPOSED, TEXTS_BEGUN}
"""Of entries that alter nothing of people, keys, grants and datasets."""
CHANGING_SNAPSHOTS: Final = frozenset({LOADED, ACTIVATED})
"""Of entries that alter which snapshots are asked, and nobody's rights."""
