"""Settings, requests and the network."""
