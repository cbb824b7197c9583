"""What releases that are paid in rho need: distances in L2, and kinds of noise."""
