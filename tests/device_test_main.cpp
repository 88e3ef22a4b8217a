// The main of every test program that launches kernels: Kokkos is opened once before the tests and closed
// after them, as in the worker. Listing tests (which ctest does) opens no device, so it also works where
// there is none.

#include <gtest/gtest.h>

#include <encore/device.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  const encore::KokkosSession kokkos;
  return RUN_ALL_TESTS();
}
