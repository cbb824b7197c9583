"""A million records of which a tenth are duplicates, beside splink alone.

Run: ``python -m benchmarks.linking.million``: the last line of ``growth`` alone.
"""

from benchmarks.linking.growth import HEAD, line


def main() -> None:
    """Measure, print."""
    print(HEAD)
    print(line(1_000_000))


if __name__ == "__main__":
    main()
