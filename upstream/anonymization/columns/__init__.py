"""Columns as codes, the classes that their codes make, and tables as published."""
