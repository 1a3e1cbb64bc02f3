"""Units of work: what one transaction does to several tables, as functions of a connection that both fronts run."""
