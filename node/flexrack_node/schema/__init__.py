"""The protocol as TypedDicts, a module a topic. Nothing imports it while the program runs."""
