// Tests of the layer "my_plugin" that only its author can write: expected numbers, and refused options. `exp
// plugin check` tests what every layer must do (gradients, threads, precisions, empty sequences). CTest runs
// it after a build. Change it together with my_plugin.cpp.
#include <cmath>
#include <cstdio>

#include <encore/testing.hpp>

#include "my_plugin.cpp"

namespace {

using Numbers = std::vector<double>;

int failures = 0;
void expect(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  failures += condition ? 0 : 1;
}

/// Returns the output (N, 2) for sequences of these lengths, one after the other.
Numbers run(std::int64_t distance, const std::vector<std::int64_t>& lengths, const Numbers& input) {
  const auto options = encore::options_with<my_plugin_layer::MyPluginLayer>("distance", distance);
  my_plugin_layer::MyPluginLayer layer(options, {.width = 2});
  return encore::run_layer(layer, 2, lengths, input);
}

bool near(double a, double b) {
  return std::abs(a - b) < 1e-12;
}

/// Checks where rows come from: with the rows (1, 0), (0, 1), (2, 3) the output shows the columns u, v of W,
/// and then 2 u + 3 v, since b is zero at first.
void looks_back_and_stays_in_its_sequence() {
  const Numbers y = run(1, {4, 1, 2}, {1, 0, 0, 1, 2, 3, 9, 9, /**/ 7, 7, /**/ 1, 0, 5, 5});
  expect(y[0] == 0 && y[1] == 0, "the first token has no token before it");
  expect(y[2] != 0 && y[3] != 0 && y[4] != 0 && y[5] != 0, "W reaches the output");
  expect(near(y[6], 2 * y[2] + 3 * y[4]) && near(y[7], 2 * y[3] + 3 * y[5]), "y[3] = W (2, 3)");
  expect(y[8] == 0 && y[9] == 0 && y[10] == 0 && y[11] == 0, "a sequence does not see the one before it");
  expect(near(y[12], y[2]) && near(y[13], y[3]), "equal neighbours give equal rows");
}

void looks_ahead() {
  const Numbers back = run(2, {3}, {1, 0, 0, 1, 2, 3}), ahead = run(-2, {3}, {2, 3, 0, 1, 1, 0});
  expect(near(back[4], ahead[0]) && near(back[5], ahead[1]) && back[4] != 0, "-2 mirrors 2");
  expect(ahead[2] == 0 && ahead[3] == 0 && ahead[4] == 0 && ahead[5] == 0, "the last two see no token");
}

void refuses_the_token_itself() {
  try {
    run(0, {1}, {1, 1});
    expect(false, "distance = 0 is refused");
  } catch (const encore::OptionError& error) {
    expect(error.option() == "distance", "the error names the option");
    expect(error.what() ==
               std::string("invalid distance = 0, the token itself: expected 1 or more, or -1 or less"),
           "the error says what to do");
  }
}

}  // namespace

int main() {
  looks_back_and_stays_in_its_sequence();
  looks_ahead();
  refuses_the_token_itself();
  std::puts(failures == 0 ? "all passed" : "some failed");
  return failures == 0 ? 0 : 1;
}
