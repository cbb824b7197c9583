"""A million records of which a tenth are duplicates, beside splink with strict rules.

Run: ``python -m benchmarks.linking.million``: the last line of ``growth`` alone.
"""

from benchmarks.linking.growth import HEAD, MILLION, line


def main() -> None:
    """Measure, print."""
    print(HEAD)
    print(line(MILLION))


if __name__ == "__main__":
    main()
