"""What the store costs on a PostgreSQL server that the benchmark starts itself."""
