"""Where a context may be cut: one invariant a file. How a rendering repairs the same thing is in ``domain.rendering``."""
