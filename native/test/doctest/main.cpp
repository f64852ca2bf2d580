// For folders whose tests need nothing of their own before they run.
#include <doctest/doctest.h>

int main(int count, char** arguments) { return doctest::Context(count, arguments).run(); }
