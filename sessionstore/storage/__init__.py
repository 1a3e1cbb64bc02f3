"""The only room with SQL: tables, engines, the schema, and one file of row functions a table.

Row functions take a SQLAlchemy ``Connection`` and never commit; the transaction belongs to whoever opened it.
"""
