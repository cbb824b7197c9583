"""The pictures of docs/hide-experiments.md."""

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from benchmarks.releases.cancer import FIRST_YEAR

mpl.use("agg")
OTHER, CANCER = "tab:blue", "tab:green"  # the dissertation's colours
COLUMNS = (
    "their cells, floored and clamped",
    "cells",
    "dpcube, information gain",
    "auto",
)
BANDS = {"their cells": (6_787, 7_447), "their DPCube": (2_227, 3_056)}
SAVED = {"dpi": 80, "metadata": {"Software": None}, "pil_kwargs": {"optimize": True}}


def draw_all(folder, originals, found, by_epsilon):
    """Draw every picture of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    years = np.arange(len(originals[0])) + FIRST_YEAR
    ages = np.arange(len(originals[1]))
    for name, which, places in (("year", 0, years), ("age", 1, ages)):
        _draw_histograms(folder, name, (which, places), originals[which], found)
    _draw_count_errors(folder, years, originals[0], found["0.5"])
    _draw_trend(folder, years, originals[0], found["0.5"])
    _draw_epsilon(folder, by_epsilon)


def _draw_histograms(folder, name, axis, original, found):
    which, places = axis
    figure, panels = plt.subplots(
        2, 5, figsize=(13, 4.6), sharex=True, layout="constrained"
    )
    for row, (epsilon, methods) in zip(panels, found.items(), strict=True):
        shown = [("original", original)]
        shown += [(column, methods[column][0][which]) for column in COLUMNS]
        for panel, (title, counts) in zip(row, shown, strict=True):
            panel.bar(places, counts[:, 0], 1, color=OTHER)
            base = np.maximum(counts[:, 0], 0)
            panel.bar(places, counts[:, 1], 1, bottom=base, color=CANCER)
            panel.set_title(title if title == "original" else f"{title}, {epsilon}")
            panel.title.set_fontsize(8)
            panel.tick_params(labelsize=7)
    _save(figure, folder / f"hide-histograms-{name}.png")


def _draw_count_errors(folder, years, original, methods):
    figure, panel = plt.subplots(figsize=(8, 4), layout="constrained")
    for colour, (name, (low, high)) in zip(("0.75", "0.9"), BANDS.items(), strict=True):
        panel.axhspan(low, high, color=colour, label=f"{name}, as reported")
    for name, pairs in methods.items():
        errors = [abs(by_year[:, 1] - original[:, 1]) for by_year, _ in pairs]
        panel.plot(years, np.mean(errors, axis=0), label=name)
    panel.set_yscale("log")
    panel.set_xlabel("year of diagnosis")
    panel.set_ylabel("mean error, patients")
    panel.legend(fontsize=7, ncols=2)
    _save(figure, folder / "hide-count-error.png")


def _draw_trend(folder, years, original, methods):
    figure, panel = plt.subplots(figsize=(8, 4), layout="constrained")
    panel.plot(years, original[:, 1], color="black", linewidth=3, label="original")
    for column in COLUMNS:
        panel.plot(years, methods[column][0][0][:, 1], label=column)
    panel.set_xlabel("year of diagnosis")
    panel.set_ylabel("died of cancer")
    panel.legend(fontsize=7)
    _save(figure, folder / "hide-trend.png")


def _draw_epsilon(folder, tables):
    figure, panels = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    titles = ("a year and death of the whole cube", "a cell of (age, death) alone")
    for panel, title, table in zip(panels, titles, tables, strict=True):
        for name, row in table.items():
            panel.plot([float(e) for e in row], list(row.values()), "o-", label=name)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel("epsilon")
        panel.set_ylabel("mean error, patients")
        panel.set_title(title, fontsize=9)
        panel.legend(fontsize=7)
    _save(figure, folder / "hide-epsilon.png")


def _save(figure, path):
    figure.savefig(path, **SAVED)
    plt.close(figure)
