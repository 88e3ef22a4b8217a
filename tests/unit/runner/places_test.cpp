// SPDX-License-Identifier: BSD-3-Clause
// Tests make_places() (runner/places.hpp), which divides cores, threads and devices among workers that run at
// once, as pure functions of the machine, control groups, the environment and options. No core and no device
// may be given twice while there are enough.
#include "runner/places.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

namespace encore::runner {
namespace {

using Numbers = std::vector<int>;

TEST(Places, OneWorkerKeepsEverythingAndHasAThreadOnEachCore) {
  const auto places = make_places({{0, 1, 2, 3}, 0}, {.workers = 1, .backend = "openmp"});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_TRUE(places[0].cores.empty());
  EXPECT_EQ(places[0].threads, 4);
  EXPECT_EQ(places[0].variables.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(places[0].variables.at("OMP_PLACES"), "{0},{1},{2},{3}");
  EXPECT_EQ(places[0].variables.at("OMP_PROC_BIND"), "close");
  EXPECT_EQ(places_text(places), "1 worker, 4 threads, pinned to the cores {0},{1},{2},{3}");
}

TEST(Places, AThreadMayMoveBetweenTheHardwareThreadsOfItsCore) {
  const auto places = make_places({{0, 4, 1, 5}, 0, {0, 0, 1, 1}}, {.workers = 1, .backend = "openmp"});
  EXPECT_EQ(places[0].threads, 2);
  EXPECT_EQ(places[0].variables.at("OMP_PLACES"), "{0,4},{1,5}");
}

TEST(Places, PinsNothingIfTheEnvironmentOrTheSystemChooses) {
  const world::Cores four{{0, 1, 2, 3}, 0};
  const auto pinned = [](const WorkerPlace& place) { return place.variables.contains("OMP_PLACES"); };
  const auto own = make_places(four, {.workers = 1, .wishes = {.pinning = true}, .backend = "openmp"});
  EXPECT_FALSE(pinned(own[0])) << "the environment pins";
  EXPECT_EQ(own[0].threads, 4);
  const auto fewer = make_places(four, {.workers = 1, .wishes = {.threads = 2}, .backend = "openmp"});
  EXPECT_FALSE(pinned(fewer[0])) << "the system chooses two of the four cores";
  EXPECT_EQ(places_text(fewer), "1 worker, 2 threads, not pinned");
  EXPECT_EQ(places_text(fewer, why_unpinned({{0, 1, 2, 3}, 2}, {})),
            "1 worker, 2 threads, not pinned: a control group grants 2 of 4 CPUs");
  EXPECT_EQ(why_unpinned({{0, 1}, 1}, {.pinning = true}),
            "OMP_PROC_BIND, OMP_PLACES or their like is set and decides");
  EXPECT_EQ(why_unpinned({{0, 1}, 2}, {.threads = 2}), "");
  EXPECT_EQ(why_unpinned({{0, 1}, 0}, {.threads = 64}),
            "OMP_NUM_THREADS asks for more threads than the 2 cores that this process may use");
  const auto granted = make_places({{0, 1, 2, 3}, 2}, {.workers = 1, .backend = "openmp"});
  EXPECT_EQ(granted[0].threads, 2);
  EXPECT_FALSE(pinned(granted[0])) << "a control group limits time, not cores";
  const auto device = make_places(four, {.workers = 1, .backend = "cuda"});
  EXPECT_EQ(device[0].threads, 0);
  EXPECT_TRUE(device[0].variables.empty()) << "host threads of a GPU run are not bound";
}

TEST(Places, CoresAreDividedInOrderAndNoneIsGivenTwice) {
  const auto places = make_places({{0, 4, 1, 5, 2}, 0}, {.workers = 2, .backend = "openmp"});
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].cores, (Numbers{0, 4}));
  EXPECT_EQ(places[1].cores, (Numbers{1, 5, 2}));
  for (const WorkerPlace& place : places) {
    EXPECT_EQ(place.threads, 2);
    EXPECT_EQ(place.variables.at("OMP_NUM_THREADS"), "2");
  }
  EXPECT_EQ(places_text(places), "2 workers at once, 2 threads each, on cores 0,4 | 1-2,5, pinned");
  EXPECT_EQ(places[0].variables.at("OMP_PLACES"), "{0},{4}");
  EXPECT_FALSE(places[1].variables.contains("OMP_PLACES")) << "two threads on three cores";
}

TEST(Places, AControlGroupLimitsTheThreadsAndNotTheCores) {
  const auto places = make_places({{0, 1, 2, 3, 4, 5, 6, 7}, 2}, {.workers = 2, .backend = "openmp"});
  EXPECT_EQ(places[0].threads, 1);
  EXPECT_EQ(places[0].cores, (Numbers{0, 1, 2, 3}));
}

TEST(Places, TheEnvironmentLimitsThreadsAndTheCommandLineWins) {
  const world::Cores cores{{0, 1, 2, 3, 4, 5, 6, 7}, 0};
  EXPECT_EQ(make_places(cores, {.workers = 2, .wishes = {.threads = 3}, .backend = "openmp"})[0].threads, 3);
  const auto wide =
      make_places(cores, {.workers = 2, .threads = 6, .wishes = {.threads = 3}, .backend = "openmp"});
  EXPECT_EQ(wide[0].threads, 6);
  EXPECT_TRUE(wide[0].cores.empty()) << "six do not fit on four cores";
  EXPECT_EQ(places_text(wide), "2 workers at once, 6 threads each, which share the cores");
}

TEST(Places, TheNumberOfThreadsMayVaryUnlessTheUserHasFixedIt) {
  const auto adaptation = [](const PlacesWanted& wanted) {
    const auto places = make_places({{0, 1}, 0}, wanted);
    const auto found = places[0].variables.find("ENCORE_ADAPT_THREADS");
    return found == places[0].variables.end() ? "" : found->second;
  };
  EXPECT_EQ(adaptation({.backend = "openmp"}), "threads,pins");
  EXPECT_EQ(adaptation({.wishes = {.pinning = true}, .backend = "openmp"}), "threads")
      << "threads that the user has bound stay";
  EXPECT_EQ(adaptation({.threads = 2, .backend = "openmp"}), "") << "--threads";
  EXPECT_EQ(adaptation({.workers = 2, .backend = "openmp"}), "") << "one thread each";
  EXPECT_EQ(adaptation({.backend = "cuda"}), "");
}

TEST(Places, SerialHasOneThreadAndRefusesMore) {
  const world::Cores cores{{0, 1, 2, 3}, 0};
  const auto one = make_places(cores, {.workers = 1, .backend = "serial"});
  EXPECT_EQ(one[0].threads, 1);
  EXPECT_FALSE(one[0].variables.contains("OMP_PLACES"));
  const auto two = make_places(cores, {.workers = 2, .wishes = {.threads = 3}, .backend = "serial"});
  EXPECT_EQ(two[1].threads, 1);
  EXPECT_EQ(two[1].cores, (Numbers{2, 3}));
  EXPECT_EQ(make_places(cores, {.workers = 1, .threads = 1, .backend = "serial"})[0].threads, 1);
  try {
    make_places(cores, {.workers = 1, .threads = 2, .backend = "serial"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "backend serial computes with one thread, not 2; leave the number of threads out, or choose "
                 "backend openmp");
  }
}

TEST(Places, MoreWorkersThanCoresShareThem) {
  const auto places = make_places({{0, 1}, 0}, {.workers = 3, .backend = "openmp"});
  EXPECT_TRUE(places[2].cores.empty());
  EXPECT_EQ(places[2].threads, 1);
}

TEST(Places, EachWorkerSeesOneDevice) {
  const auto cuda =
      make_places({{0, 1}, 0}, {.workers = 2, .backend = "cuda", .devices = parse_devices("1,GPU-ab12")});
  EXPECT_EQ(cuda[0].variables.at("CUDA_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(cuda[1].variables.at("CUDA_VISIBLE_DEVICES"), "GPU-ab12");
  const auto hip = make_places({{0}, 0}, {.workers = 1, .backend = "hip", .devices = {"3"}});
  EXPECT_EQ(hip[0].variables.at("HIP_VISIBLE_DEVICES"), "3");
  EXPECT_EQ(places_text(hip), "1 worker, on devices 3");
}

void expect_refused(const std::string& list, const std::string& message) {
  try {
    parse_devices(list);
    ADD_FAILURE() << list;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(Places, AWrongListOfDevicesIsRefused) {
  expect_refused("0,", "\"\" is not a device");
  expect_refused("0;1", "\"0;1\" is not a device: expected numbers separated by commas");
  expect_refused("-1", "\"-1\" is not a device");
  expect_refused("0,0", "device 0 is given twice");
}

TEST(Places, MoreWorkersThanVisibleDevicesAreRefused) {
  ::setenv("HIP_VISIBLE_DEVICES", "2,3", 1);
  EXPECT_EQ(first_devices("hip", 2), (std::vector<std::string>{"2", "3"}));
  try {
    first_devices("hip", 3);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "-j 3 on hip needs as many devices, but there are 2; give a smaller -j, or more devices "
                 "with --devices");
  }
  ::unsetenv("HIP_VISIBLE_DEVICES");
}

TEST(Places, MoreThreadsThanKokkosHasRoomForAreRefused) {
  const world::Cores cores{{0, 1}};
  EXPECT_EQ(make_places(cores, {.threads = 512, .backend = "openmp"}).front().threads, 512);
  EXPECT_EQ(make_places(cores, {.wishes = {.threads = 600}, .backend = "openmp"}).front().threads, 512);
  try {
    make_places(cores, {.threads = 513, .backend = "openmp"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--threads 513 is too many; Kokkos has room for 512");
  }
}

TEST(Places, ThisMachineHasCores) {
  const world::Cores cores = world::usable_cores();
  EXPECT_FALSE(cores.numbers.empty());
  EXPECT_GE(cores.granted, 0);
}

}  // namespace
}  // namespace encore::runner
