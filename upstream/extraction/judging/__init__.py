"""How good a model is: measures, curves, and whether a difference is chance."""
