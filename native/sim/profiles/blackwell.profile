# Of the published figures of this card and of its compute capability.
card GeForce RTX 5090
capability 12.0
driver 13.5
memory 32GiB
attribute 13 2407000   # CLOCK_RATE, kHz
attribute 16 170   # MULTIPROCESSOR_COUNT
attribute 36 14001000   # MEMORY_CLOCK_RATE, kHz
attribute 37 512   # GLOBAL_MEMORY_BUS_WIDTH, bits
attribute 38 100663296   # L2_CACHE_SIZE
