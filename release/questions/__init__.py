"""Questions to a published cube, in the language of queries; all of them are free."""
