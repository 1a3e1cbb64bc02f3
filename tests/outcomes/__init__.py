"""How attempts end, and what an ending means for the next one."""
