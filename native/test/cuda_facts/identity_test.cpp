#include "cuda/identity.h"

#include <doctest/doctest.h>

#include "cuda/own_tables.h"

using namespace flexrack::cuda;

TEST_CASE("a uuid is written as NVIDIA's tools write it") {
  CUuuid uuid;
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) uuid.bytes[i] = static_cast<char>(i * 17);
  CHECK(uuid_text(uuid) == "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE("a place on the bus is read with and without domain and function") {
  CHECK(pci_place("0000:3b:00.0") == PciPlace{0, 0x3b, 0});
  CHECK(pci_place("00000001:3B:1f.0") == PciPlace{1, 0x3b, 0x1f});
  CHECK(pci_place("3b:1f") == PciPlace{0, 0x3b, 0x1f});
  CHECK_FALSE(pci_place("").has_value());
  CHECK_FALSE(pci_place("bus one").has_value());
}

TEST_CASE("devices of several servers at one place get domains of their own") {
  PciPlaces places;
  std::string first = "0000:01:00.0", second = first, third = first, other = "0001:02:00.0";
  CHECK(places.take(first) == 0);
  CHECK(places.take(other) == 1);
  CHECK(places.take(second) == 1);
  CHECK(places.take(third) == 2);
  CHECK(first == "0000:01:00.0");
  CHECK(second == "0001:01:00.0");
  CHECK(third == "0002:01:00.0");
  CHECK(other == "0001:02:00.0");
}

TEST_CASE("a table of our own is known by its name alone") {
  CHECK(is_named<SimTable>(id_of<SimTable>()));
  CHECK_FALSE(is_named<SimTable>(id_of<ClientTable>()));
  CHECK(find_table<SimTable>(nullptr) == nullptr);
  CHECK(find_table<SimTable>(
            [](const void** table, const CUuuid*) { return *table = nullptr, CUDA_ERROR_NOT_FOUND; }) == nullptr);
}
