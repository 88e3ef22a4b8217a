// SPDX-License-Identifier: BSD-3-Clause
// The source of the sample plugins of loader_test.cpp and registry_test.cpp. CMakeLists.txt compiles it
// several times with different macros: a good plugin, one of another build, one that fails to register, one
// that registers nothing, and a library that is not a plugin. Its name, version and option must stay, because
// the tests compare them.
#include <encore/plugin.hpp>

#ifndef SAMPLE_EMPTY
namespace sample {

class Half final : public encore::Schedule {
 public:
  static constexpr int version = 3;
  static encore::Schema options() {
    return encore::Schema().number("factor", 0.5, {.help = "what the rate is multiplied by"});
  }
  Half(const encore::Options& options, const encore::ScheduleContext&) : factor_(options.number("factor")) {}
  double factor(std::int64_t) const override { return factor_; }

 private:
  double factor_;
};

}  // namespace sample

ENCORE_PLUGIN("sample", "1.2.3") {
#if defined(SAMPLE_FAILING)
  throw encore::Error("the moon is full");
#elif !defined(SAMPLE_IDLE)
  plugin.add<encore::Kind::schedule, sample::Half>("half");
#endif
}
#endif
