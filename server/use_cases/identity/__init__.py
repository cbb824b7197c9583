"""Who a caller is: keys, tokens, roles, limits, and what each may see.

Which people and keys there are is kept by ``custody``.
"""
