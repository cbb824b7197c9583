"""First manifests for given files, and checks of written ones."""
