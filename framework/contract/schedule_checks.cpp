// The checks of schedules: the factors they give over runs of several lengths.
#include <cmath>

#include "contract/suite.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore {
namespace {

std::string check_schedule(const Offer& offer) {
  for (const OptionsVariant& variant : option_variants(offer.options))
    for (const std::int64_t total : {1, 2, 3, 1000}) {
      std::unique_ptr<Schedule> schedule;
      try {
        schedule = make_offer<Kind::schedule>(offer, variant.options, {total, 384});
      } catch (const OptionError&) {  // a combination that cannot be
        continue;
      }
      std::vector<double> forward;
      for (std::int64_t step = 1; step <= total; ++step) forward.push_back(schedule->factor(step));
      for (std::int64_t step = total; step >= 1; --step) {
        const double factor = forward[static_cast<std::size_t>(step) - 1];
        const std::string where =
            " at step " + std::to_string(step) + " of " + std::to_string(total) + " with " + variant.name;
        require(std::isfinite(factor) && factor >= 0.0, "the factor is " + std::to_string(factor) + where);
        require(schedule->factor(step) == factor, "asked again, the factor is another one" + where +
                                                      "; a schedule is a pure function of the step");
      }
    }
  return "finite, not negative and a pure function of the step, for 1, 2, 3 and 1000 steps";
}

}  // namespace

std::vector<Check> schedule_checks(const Offer& offer) {
  return {{"factors", [&] { return check_schedule(offer); }}};
}

}  // namespace encore
