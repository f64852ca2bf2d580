# Of the published figures of this card and of its compute capability.
card GeForce RTX 4090
capability 8.9
driver 13.0
memory 24GiB
attribute 13 2520000   # CLOCK_RATE, kHz
attribute 16 128   # MULTIPROCESSOR_COUNT
attribute 36 10501000   # MEMORY_CLOCK_RATE, kHz
attribute 37 384   # GLOBAL_MEMORY_BUS_WIDTH, bits
attribute 38 75497472   # L2_CACHE_SIZE
