"""Reads a Dockerfile: stages of steps, in the few forms that ours uses."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

KNOWN = frozenset(
    "ARG FROM LABEL WORKDIR RUN COPY ENV VOLUME EXPOSE USER HEALTHCHECK "  # noqa: SIM905
    "ENTRYPOINT CMD".split()
)


@dataclass(frozen=True)
class Instruction:
    """One instruction: its word, and the rest of it on one line."""

    word: str
    rest: str

    def exec_form(self) -> list[str]:
        """Return the words of a JSON list, as ENTRYPOINT and CMD have them."""
        return [str(word) for word in json.loads(self.rest)]

    def pairs(self) -> dict[str, str]:
        """Return the pairs of ENV or LABEL."""
        found = re.findall(r'([\w.]+)=("[^"]*"|\S+)', self.rest)
        return {name: value.strip('"') for name, value in found}


@dataclass
class Stage:
    """What follows one FROM."""

    name: str
    base: str
    steps: list[Instruction] = field(default_factory=list)

    def last(self, word: str) -> Instruction:
        """Return the last step with this word.

        Raises:
            LookupError: There is none.
        """
        for step in reversed(self.steps):
            if step.word == word:
                return step
        raise LookupError(word)


def read_stages(path: Path) -> list[Stage]:
    """Return the stages of a Dockerfile; the last one is the image.

    Raises:
        ValueError: An instruction that this reader does not know.
    """
    stages: list[Stage] = []
    given: dict[str, str] = {}
    for step in _steps(path.read_text("utf-8")):
        if step.word not in KNOWN:
            message = f"{path}: no way to run {step.word} here"
            raise ValueError(message)
        if step.word == "FROM":
            base, _, name = Template(step.rest).substitute(given).partition(" AS ")
            stages.append(Stage(name.strip() or "image", base.strip()))
        elif stages:
            stages[-1].steps.append(step)
        else:
            given |= step.pairs()
    return stages


def _steps(text: str) -> list[Instruction]:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\s*\\\n\s*", " ", "\n".join(lines))
    words = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
    return [Instruction(word.upper(), rest) for word, rest in words]
