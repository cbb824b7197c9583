"""Rows of literals in a text, as of VALUES: written into what reads them."""
