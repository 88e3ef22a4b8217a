// Tests of the head "my_plugin" that only its author can write: expected losses and classes, and refused
// options. `exp plugin check` tests what every head must do (gradients, threads, precisions, empty
// sequences). CTest runs it after a build. Change it together with my_plugin.cpp.
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

/// Runs the head on two sequences of three rows and one, with states of width 2 and three classes.
encore::HeadResult run(double gamma, const Numbers& targets, double label_smoothing = 0.0) {
  const auto options = encore::options_with<my_plugin_head::MyPluginHead>("gamma", gamma);
  my_plugin_head::MyPluginHead head(options, {.width = 2, .classes = 3, .label_smoothing = label_smoothing});
  return encore::run_head(head, 2, {3, 1}, {1, 0, 0, 1, 2, -3, -1, 4}, {{"targets", targets}});
}

bool near(double a, double b) {
  return std::abs(a - b) < 1e-12;
}

/// Checks that with gamma = 0 the loss is -log p and the probabilities of all classes sum to 1.
void is_cross_entropy_without_gamma() {
  Numbers sums(4, 0.0);
  for (const double k : {0, 1, 2}) {
    const Numbers losses = run(0.0, {k, k, k, k}).losses;
    for (std::size_t row = 0; row < 4; ++row) sums[row] += std::exp(-losses[row]);
  }
  expect(near(sums[0], 1) && near(sums[1], 1) && near(sums[2], 1) && near(sums[3], 1), "sum of p = 1");
}

void turns_to_what_is_wrong() {
  const Numbers plain = run(0.0, {0, 1, 2, 0}).losses, focal = run(2.0, {0, 1, 2, 0}).losses;
  for (std::size_t row = 0; row < 4; ++row) {
    const double wrong = 1.0 - std::exp(-plain[row]);
    expect(near(focal[row], wrong * wrong * plain[row]), "loss = (1 - p)^2 (-log p)");
  }
}

void leaves_rows_without_a_target_alone() {
  const Numbers losses = run(2.0, {0, encore::no_target, 2, encore::no_target}).losses;
  expect(losses[0] > 0 && losses[1] == 0 && losses[2] > 0 && losses[3] == 0, "no target, no loss");
}

void decodes_the_likeliest_class() {
  std::vector<Numbers> by_class;
  for (const double k : {0, 1, 2}) by_class.push_back(run(2.0, {k, k, k, k}).losses);
  const Numbers classes = run(2.0, {0, 0, 0, 0}).outputs.at("classes");
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t k = 0; k < 3; ++k)
      expect(by_class[static_cast<std::size_t>(classes[row])][row] <= by_class[k][row],
             "the class that is decoded has the least loss");
}

void refuses_smooth_labels() {
  try {
    run(2.0, {0, 0, 0, 0}, 0.1);
    expect(false, "label_smoothing = 0.1 is refused");
  } catch (const encore::Error& error) {
    expect(
        error.what() == std::string("the focal loss has no label smoothing: set train.label_smoothing = 0"),
        "the error says what to do");
  }
}

}  // namespace

int main() {
  is_cross_entropy_without_gamma();
  turns_to_what_is_wrong();
  leaves_rows_without_a_target_alone();
  decodes_the_likeliest_class();
  refuses_smooth_labels();
  std::puts(failures == 0 ? "all passed" : "some failed");
  return failures == 0 ? 0 : 1;
}
