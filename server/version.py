"""This version's number; pyproject.toml reads it here.

It is not asked of the installer's records: another distribution may bear a like name.
"""

VERSION = "0.1.0"
