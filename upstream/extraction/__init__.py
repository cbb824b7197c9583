"""Health information in text: documents are read, spans found, judged and typed."""
