// One source, several plugins: a good one, one of another build, one that fails to register, and one that is
// none.
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
#ifdef SAMPLE_FAILING
  throw encore::Error("the moon is full");
#endif
  plugin.add<encore::Kind::schedule, sample::Half>("half");
}
#endif
