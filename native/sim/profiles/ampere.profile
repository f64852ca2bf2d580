# Of the published figures of this card and of its compute capability.
card A100-SXM4-80GB
capability 8.0
driver 13.0
memory 80GiB
attribute 13 1410000   # CLOCK_RATE, kHz
attribute 16 108   # MULTIPROCESSOR_COUNT
attribute 36 1593000   # MEMORY_CLOCK_RATE, kHz
attribute 37 5120   # GLOBAL_MEMORY_BUS_WIDTH, bits
attribute 38 41943040   # L2_CACHE_SIZE
