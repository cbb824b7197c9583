"""Names the concrete parts and wires them together."""
