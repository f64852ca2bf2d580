# Of the published figures of this card and of its compute capability.
card Tesla T4
capability 7.5
driver 13.0
memory 15GiB
attribute 13 1590000   # CLOCK_RATE, kHz
attribute 16 40   # MULTIPROCESSOR_COUNT
attribute 36 5001000   # MEMORY_CLOCK_RATE, kHz
attribute 37 256   # GLOBAL_MEMORY_BUS_WIDTH, bits
attribute 38 4194304   # L2_CACHE_SIZE
