"""The file in which a rank tells of itself, attempts/K/rank-R.progress: 2048 bytes, little-endian, fields of 8 bytes.

Only constants, because it is imported in every rank. Written by one process through mmap, without system calls; read by
anybody, at any moment. Every field is aligned and is written whole. Between two fields there is no lock: they are
written in such an order that each state in between is true. Any program may be the writer: the file is there with its
first two fields when the rank starts, and FLEXRACK_PROGRESS names it. Times are seconds since 1970 (f64; 0: never),
counts are u64. A field's place is its number times 8 bytes.
"""

MAGIC = b"FLXRPROG"
VERSION = 1
SIZE = 2048
KEPT = 64  # durations of steps that are kept, spread evenly over all of them

PID = 2  # u64: whose progress it is
STARTED_AT = 3  # f64: that process began to tell
UPDATED_AT = 4  # f64: the last event of any kind
STEPS = 5  # u64: optimizer steps
STEP_AT = 6  # f64: of the last step
FIRST_STEP_AT = 7  # f64
STEP_SECONDS = 8  # f64: from the first step to the last, summed over STEPS - 1 of them
BATCHES = 9  # u64: taken out of data loaders, those of evaluation too
BATCH_AT = 10  # f64: the last one came
SAMPLES = 11  # u64: first dimension of the first tensor of a batch, of batches for training
# u64: elements of integer tensors with two dimensions, of batches for training; 0 where there are none
TOKENS = 12
DATA_WAIT = 13  # f64: seconds in data loaders' next
DATA_SINCE = 14  # f64: it is in a data loader's next since then; 0: it is not
COLLECTIVES = 15  # u64: begun
COLLECTIVES_DONE = 16  # u64: returned; fewer than begun: it is in one
COLLECTIVE_AT = 17  # f64: the last one began
COLLECTIVE_SECONDS = 18  # f64: in all that have returned
EVALUATED = 19  # u64: batches taken with gradients switched off
NAME = 20  # 32 bytes, NUL at the end: the collective that began last, "all_reduce"
NAME_BYTES = 32
OWN_SECONDS = 24  # f64: part of STEP_SECONDS that was outside of collectives
STRIDE = 25  # u64: of every so many steps one is kept; doubled when the place is full (0: nothing is kept)
DURATIONS = 32  # f64 x KEPT: of step number n = 2 + index * STRIDE, from the step before to it
OWN = 96  # f64 x KEPT: the part of it that was outside of collectives
