"""What can be wrong with a database: evidence without bodies in, findings with a remedy where there is one out."""
