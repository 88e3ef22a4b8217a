// SPDX-License-Identifier: BSD-3-Clause
// A library for report_bytes_test.cpp, loaded by LD_PRELOAD before a program's own: a clock that is 400 days
// ahead. The output of the program must not depend on the day.
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

namespace {
constexpr time_t ahead = 400L * 86400;
}

extern "C" int clock_gettime(clockid_t clock, struct timespec* now) {
  using Function = int (*)(clockid_t, struct timespec*);
  static const auto own = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = own(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += ahead;
  return result;
}

extern "C" int gettimeofday(struct timeval* now, void*) {
  struct timespec exact {};
  const int result = clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return result;
}

extern "C" time_t time(time_t* place) {
  struct timespec exact {};
  clock_gettime(CLOCK_REALTIME, &exact);
  if (place != nullptr) *place = exact.tv_sec;
  return exact.tv_sec;
}
