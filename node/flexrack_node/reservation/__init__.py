"""Who has which node or GPU: records that all users of a node see, and how a supervisor keeps one."""
