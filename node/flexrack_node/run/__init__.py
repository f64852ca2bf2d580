"""What a run is, as data: its files, how it ended, who leads it, what the tracking server is told."""
