"""Speed and accuracy, measured beside peers or limits in one run."""
