"""Commands about datasets, manifests and jobs."""
