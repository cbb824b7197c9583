"""What the tree's own route says of paths and of their steps, with exact answers.

Asked as over HTTP: with a value of the split, and without one, at every depth.
"""

from collections import Counter

import numpy as np

from server.use_cases.releases.trees import WantedBranch, branch_document

_NOBODY = -1


class Branches:
    """All such questions to logs of one shape."""

    def __init__(self, log, most, *, frequent=4, met=4, seed=5):
        """Take paths of each depth that sequences begin with.

        Args:
            log: Of sequences.
            most: h.
            frequent: How many of the most frequent ones of each depth.
            met: How many more, by chance.
            seed: Of these.
        """
        self.log, self.most, self.rows = log, most, log.cut(most)
        dice = np.random.default_rng(seed)
        self.paths = [()]
        for depth in range(1, most + 1):
            begun = self.rows[self.rows[:, depth - 1] >= 0, :depth]
            known = Counter(map(tuple, begun.tolist())).most_common()
            some = [path for path, _ in known[:frequent]]
            others = [path for path, _ in known[frequent:]]
            order = dice.permutation(len(others))[:met]
            self.paths += some + [others[place] for place in order]

    def ask(self, asked):
        """Yield (class, value, low, high, truth) of each number of a release."""
        arms = list(range(self.log.splits)) if self.log.splits > 1 else []
        for path in self.paths:
            own = [self._document(asked, path, (arm,)) for arm in arms]
            whole = self._document(asked, path, ())
            if not arms:
                yield from self._of(path, whole, "no split", [whole])
                continue
            yield from self._of(path, whole, "all together", own)
            for arm, document in zip(arms, own, strict=True):
                yield from self._of(path, document, "by split", [document], arm)

    @staticmethod
    def _document(asked, path, arm):
        return branch_document(asked, WantedBranch(path, *arm, has_split=bool(arm)))

    def _of(self, path, document, how, parts, arm=None):
        """Yield what a branch says.

        Args:
            path: Its symbols.
            document: What is said of it.
            how: What it was asked with.
            parts: What is said of it in each value of the split, or the same again.
            arm: One value alone.
        """
        depth = len(path)
        begun = (self.rows[:, :depth] == path).all(axis=1)
        if arm is not None:
            begun &= self.log.groups == arm
        if document["count"] is not None:
            yield self._row(f"{how}, path {depth}", document, int(begun.sum()))
        nexts = self._nexts(begun, depth)
        for child in document["children"]:
            if child["kind"] == "rest":
                truth = self._left(begun, depth, parts)
                yield self._row(f"{how}, rest {depth + 1}", child, truth)
                continue
            code = _NOBODY if child["kind"] == "end" else int(child["symbol"])
            yield self._row(f"{how}, steps {depth + 1}", child, nexts[code])

    def _nexts(self, begun, depth):
        if depth == self.rows.shape[1]:
            return Counter()
        return Counter(self.rows[begun, depth].tolist())

    def _left(self, begun, depth, parts):
        """Return how many take a step that the tree of their own value lacks."""
        left = 0
        for arm, document in enumerate(parts):
            own = begun if len(parts) == 1 else begun & (self.log.groups == arm)
            nexts = self._nexts(own, depth)
            left += sum(nexts.values())
            for child in document["children"]:
                if child["kind"] != "rest":
                    code = _NOBODY if child["kind"] == "end" else int(child["symbol"])
                    left -= nexts[code]
        return left

    @staticmethod
    def _row(kind, said, truth):
        value, width = float(said["count"]), float(said["half_width"])
        return f"tree, {kind}", value, max(value - width, 0.0), value + width, truth
