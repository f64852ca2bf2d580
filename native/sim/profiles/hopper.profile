# Of the published figures of this card and of its compute capability.
card H100 SXM5 80GB
capability 9.0
driver 13.5
memory 80GiB
attribute 13 1980000   # CLOCK_RATE, kHz
attribute 16 132   # MULTIPROCESSOR_COUNT
attribute 36 2619000   # MEMORY_CLOCK_RATE, kHz
attribute 37 5120   # GLOBAL_MEMORY_BUS_WIDTH, bits
attribute 38 52428800   # L2_CACHE_SIZE
