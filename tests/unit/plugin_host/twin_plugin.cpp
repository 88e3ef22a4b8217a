// SPDX-License-Identifier: BSD-3-Clause
// The source of two sample plugins of registry_test.cpp. CMakeLists.txt compiles it twice, as TWIN 1 and 2:
// namespace, class, functions and variables have the same names in both, as if two people had copied one
// template. The registry must keep them apart, so these names must stay equal.
#include <encore/plugin.hpp>

namespace my_layers {

int base = TWIN * 10;

/// Weak symbols with a counter of their own: without -fno-gnu-unique and RTLD_LOCAL both plugins would share
/// them.
template <class T>
inline T calls() {
  static T count = 0;
  return ++count;
}

class Mine final : public encore::Schedule {
 public:
  static encore::Schema options() { return {}; }
  Mine(const encore::Options&, const encore::ScheduleContext&) {}
  double factor(std::int64_t) const override { return base + calls<double>(); }
};

}  // namespace my_layers

#if TWIN == 1
ENCORE_PLUGIN("twin_a", "1.0.0") {
  plugin.add<encore::Kind::schedule, my_layers::Mine>("twin_a");
}
#else
ENCORE_PLUGIN("twin_b", "1.0.0") {
  plugin.add<encore::Kind::schedule, my_layers::Mine>("twin_b");
}
#endif
