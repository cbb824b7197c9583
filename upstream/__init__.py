"""The custodian's jobs: from files on disk to private snapshots."""
