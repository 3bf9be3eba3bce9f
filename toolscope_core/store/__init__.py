"""The store: everything that lasts, in one database. Only this package contains SQL.

``Store(url)`` opens the store. The functions take it as their first argument, and take and return
frozen dataclasses. Each function is one short transaction, and raises ``StoreError`` if the
database cannot be used.
"""
