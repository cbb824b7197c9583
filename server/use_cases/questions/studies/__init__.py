"""Several questions paid for by one charge: which tables are measured for them."""
