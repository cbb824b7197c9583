"""What every use case stands on: the opened services, documents, errors, paging."""
