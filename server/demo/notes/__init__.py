"""Clinical notes of made-up patients, with where in them each identifier stands."""
