"""The store: everything that lasts, in one database. The only place that knows SQL.

``Store(url)`` opens it; the functions take it first and exchange frozen dataclasses. Each is one
short transaction and raises ``StoreError`` when the database cannot be used.
"""
