"""Each family of ``server/cli`` with the parts that bootstrap makes.

One file a family, read when the family is named.
"""
