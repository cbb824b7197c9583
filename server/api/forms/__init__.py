"""An answer in other forms than JSON: each a function of the JSON bytes alone."""
