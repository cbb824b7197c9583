"""The demos: made-up hospitals, served over real HTTP."""
