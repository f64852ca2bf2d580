"""The least that runs: one process a node, told its rank by the environment."""

import os
import time

rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
for step in range(5):
    print(f"rank {rank} of {world_size}: step {step + 1}/5", flush=True)
    time.sleep(0.2)
