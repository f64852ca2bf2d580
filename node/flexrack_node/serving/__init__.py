"""Servers that this node starts and ends by itself, as the head wants: the agent, and who starts it."""
