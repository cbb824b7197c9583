"""A hospital whose patients have several ids: what record linkage is tried on.

``writing.write_demo`` writes a folder in which nothing says who is one patient:

- ``admissions.csv``: semicolons, Windows-1252, dates day first, a row a hospital number
  (``patient_no``, seven digits). Every tenth patient in it was registered twice.
- ``laboratory.csv``: commas, UTF-8, ISO dates, other columns in another order, and ids
  of its own (``lab_id``). No number is in both files.
- ``notes/DAY-KIND-NUMBER.txt``: what wards wrote. A note has a name, a date of birth or
  a hospital number where its writer put one; many have none of them.

and apart from it, for tests and benchmarks alone:

- ``truth/records.csv``: which person a row or a note is about, by source and id;
- ``truth/people.csv``: who there is, in which household, and what is hard about them;
- ``truth/gold.jsonl``: the identifiers in the notes, as ``read_json_spans`` reads them.

What is wrong with the records is what is wrong in hospitals: letters mistyped, accents
lost, short forms of given names, day and month exchanged, surnames from before a
marriage, addresses and phones from before a move, values missing. What is hard though
nothing is wrong: surnames and given names that are as common as real ones, twins, a
father and a son of one name, and households with one address and one phone.
"""
