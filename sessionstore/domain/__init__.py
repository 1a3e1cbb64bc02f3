"""The rules of the store as pure functions of values: no database, file, clock or chance."""
