"""Tables of cells: shown, and handed to other libraries."""
