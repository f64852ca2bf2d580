"""Whether the machine is going down: then who ends a process is nobody who wants its end."""
import subprocess

_PATIENCE_SECONDS = 3.0


def goes_down() -> bool:
    """As systemd says; False where there is none, or it does not answer."""
    try:
        done = subprocess.run(["systemctl", "is-system-running"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == "stopping"
