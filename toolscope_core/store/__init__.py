"""The store: everything that lasts, in one database. Only this package contains SQL.

``Store(url)`` opens it. The functions take it as their first argument and exchange frozen
dataclasses. Each is one short transaction and raises ``StoreError`` if the database cannot be used.
"""
