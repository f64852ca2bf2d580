"""What is known of a run's record without speaking to a tracking server: recording.py, which does, reads OpenSSL and
HTTP, a quarter of what it costs to start a supervisor. Most runs of a rack without a head have nobody to speak to.
"""

# Seconds that a run's token outlives the run for nodes that did not say that they need it no more. One that is lost has
# ended its part within a minute of its last word (docs/adr/0016), then has its writes and logs to send; what comes
# later, the user's next command brings with the user's own rights.
LATE_SECONDS = 300.0


class NotRecorded(Exception):
    """The tracking server is away or refused; everything needed to try again is in the run's folder."""
