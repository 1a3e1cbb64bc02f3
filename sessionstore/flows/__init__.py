"""What the fronts can do, told once as flows: the sync and the async front only drive them."""
