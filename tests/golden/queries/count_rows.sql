SELECT COUNT(*) FROM encounters
