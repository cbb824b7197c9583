"""Rules: forms that identifiers are written in, as a layer beside trained models.

Which type a form means is either said, or learned: of the spans of a gold standard
that a form marks exactly, the type that most have. How sure a rule is, is how often it
was right there.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from upstream.extraction.patterns.forms import FORMS, Match, matches
from upstream.extraction.text.spans import AnnotatedDocument, Span, in_order
from upstream.extraction.text.tokens import tokenize

SURE = 0.9
"""How often a learned rule must have been right."""
LEAST_SEEN = 10
"""Matches that a rule must have had to be learned."""

USUAL = {
    "numeric_date": "DATE",
    "written_date": "DATE",
    "age": "AGE",
    "email": "EMAIL",
    "url": "URL",
    "phone": "PHONE",
    "social_security": "ID",
    "record_number": "ID",
    "address": "ADDRESS",
    "via": "ADDRESS",
    "titled_name": "NAME",
    "hospital": "HOSPITAL",
}
"""What forms mean where there is no gold standard."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a form means.

    Attributes:
        label: The type of its matches.
        score: Probability that a match is one, as it was on a gold standard.
    """

    label: str
    score: float


@dataclass(frozen=True)
class Rules:
    """Finds the matches of forms.

    Attributes:
        rules: What each form means; forms that are not here find nothing.
        name: What it calls itself as a span's source.
    """

    rules: Mapping[str, Rule]
    name: str = "rules"

    def find(self, text: str) -> tuple[Span, ...]:
        """Return the spans of a text, in order.

        >>> rules = Rules({"email": Rule("EMAIL", 1.0)})
        >>> [(span.start, span.end) for span in rules.find("to a.b@c.org.")]
        [(3, 12)]
        """
        known = [form for form in FORMS if form.name in self.rules]
        return self.of(matches(tokenize(text), known)) if known else ()

    def of(self, found: Iterable[Match]) -> tuple[Span, ...]:
        """Return the spans that matches of forms are, in order."""
        return in_order(
            Span(match.start, match.end, rule.label, rule.score, self.name)
            for match in found
            if (rule := self.rules.get(match.form)) is not None
        )


def learn_rules(documents: Iterable[AnnotatedDocument], *, sure: float = SURE) -> Rules:
    """Return the rules that were right in a gold standard.

    Args:
        documents: The gold standard.
        sure: The least part of a form's matches that must be spans of one type, or
            lie in spans of it.
    """
    exact: dict[str, Counter[str]] = defaultdict(Counter)
    seen: Counter[str] = Counter()
    for each in documents:
        gold = {(span.start, span.end): span.label for span in each.spans}
        for match in matches(tokenize(each.document.text)):
            seen[match.form] += 1
            label = gold.get((match.start, match.end))
            if label is not None:
                exact[match.form][label] += 1
    rules = {}
    for form, labels in sorted(exact.items()):
        label, count = labels.most_common(1)[0]
        if seen[form] >= LEAST_SEEN and count >= sure * seen[form]:
            rules[form] = Rule(label, count / (seen[form] + 1))
    return Rules(rules)
