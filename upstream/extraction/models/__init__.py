"""What finds spans: trained models, rules, and their union."""
