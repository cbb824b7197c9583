"""How much anonymized tables lose and how fast they are made, beside other software."""
