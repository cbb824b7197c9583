"""How many useful answers a cap buys, under each measure."""
