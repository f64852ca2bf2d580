// doctest itself, compiled once for all programs of tests, and without sanitizers: it is the slowest file of all with
// them.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
