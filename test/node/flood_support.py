"""A program that takes all that a listening port has for pending connections: PORT, how many stay silent, how many come
and go all the time.
"""

FLOOD = """
import socket, sys, threading
port, silent, flooding = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
kept = []
for _ in range(silent):
    try: kept.append(socket.create_connection(("127.0.0.1", port), 5))
    except OSError: pass
print("here", len(kept), flush=True)
def flood():
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as one: one.sendall(b"x" * 100); one.recv(100)
        except OSError: pass
for _ in range(flooding): threading.Thread(target=flood, daemon=True).start()
sys.stdin.read()
"""
