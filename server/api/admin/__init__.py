"""Routes of custodians, auditors and admins."""
