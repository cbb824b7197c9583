"""HIDE's loop: what is known of linked patients finds more in their texts, and back.

Source: Gardner 2012 (HIDE), section 3.3: what is extracted is linked, and what is
linked is used in the next extraction, until nothing changes.
"""
