"""One reader for each kind of source: files, tables, HL7, FHIR and XML."""
