"""Commands about anonymized copies."""
