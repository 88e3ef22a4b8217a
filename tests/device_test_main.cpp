// The main of every test program that launches kernels: Kokkos is opened once before the tests and closed
// after them, as in the worker. Listing tests (which ctest does) opens no device, so it also works where
// there is none.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  return RUN_ALL_TESTS();
}
