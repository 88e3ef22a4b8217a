// The main of every test program that launches kernels: it opens Kokkos once before the tests and closes it
// after them, as the worker does. Listing tests (as ctest does) opens no device, so it also works on a
// machine without one.

#include <gtest/gtest.h>

#include <encore/device.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  const encore::KokkosSession kokkos;
  return RUN_ALL_TESTS();
}
