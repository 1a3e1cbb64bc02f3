"""What only a database server does: being killed, colliding transactions, poolers, query plans, rules of a sharded schema."""
