"""Methods that generalise codes and notes until k people fit: GCCens, LDA, DAST.

Copies are made by them in ``upstream/anonymization``: ``codes`` and ``texts``.
"""
