// Tests of the schedule "my_plugin" that only its author can write: expected factors, and refused options.
// `exp plugin check` tests what every schedule must do. CTest runs it after a build. Change it together with
// my_plugin.cpp.
#include <cmath>
#include <cstdio>

#include <encore/testing.hpp>

#include "my_plugin.cpp"

namespace {

int failures = 0;
void expect(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  failures += condition ? 0 : 1;
}

/// Returns the factor at a step of a run of ten steps.
double factor(double warmup, double decay, std::int64_t step) {
  auto options = encore::default_options<my_plugin_schedule::MyPluginSchedule>();
  options.set("warmup", warmup);
  options.set("decay", decay);
  return my_plugin_schedule::MyPluginSchedule(options, {.total_steps = 10}).factor(step);
}

bool near(double a, double b) {
  return std::abs(a - b) < 1e-12;
}

void goes_up_stays_and_goes_down() {
  expect(near(factor(0.4, 0.5, 1), 0.25) && near(factor(0.4, 0.5, 2), 0.5), "up over four of ten steps");
  expect(factor(0.4, 0.5, 4) == 1.0 && factor(0.4, 0.5, 5) == 1.0, "flat in between");
  expect(near(factor(0.4, 0.5, 6), 0.8) && factor(0.4, 0.5, 10) == 0.0, "down over the last five");
  expect(factor(0.0, 0.0, 1) == 1.0 && factor(0.0, 0.0, 10) == 1.0, "without both it is constant");
}

void refuses_more_than_all_steps() {
  try {
    factor(0.6, 0.5, 1);
    expect(false, "0.6 and 0.5 are refused");
  } catch (const encore::OptionError& error) {
    expect(error.option() == "decay", "the error names the option");
    expect(error.what() == std::string("invalid warmup and decay: expected a sum of at most 1"),
           "the error says what to do");
  }
}

}  // namespace

int main() {
  goes_up_stays_and_goes_down();
  refuses_more_than_all_steps();
  std::puts(failures == 0 ? "all passed" : "some failed");
  return failures == 0 ? 0 : 1;
}
