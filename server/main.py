"""The command ``curator``."""


def main() -> None:
    """Run the command line."""
