"""What admins and custodians keep: principals and keys, projects, populations.

Who a caller is, and what that lets them see, is ``identity``.
"""
