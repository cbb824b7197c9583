"""Strategies that measure tables of few dimensions."""
