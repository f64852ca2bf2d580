"""The supervisors of a run's nodes, together: one leads, the others follow, and another leads when that one is lost."""
