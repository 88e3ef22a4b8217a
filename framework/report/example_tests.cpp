// See example_tests.hpp.
#include "report/example_tests.hpp"

#include "report/predictions.hpp"

namespace encore {

ExampleTests::ExampleTests(Store& store, const std::string& metric)
    : store_(store), metric_(metric), measure_(example_measure(metric)) {}

void ExampleTests::test(const std::vector<const Replicate*>& a, const std::vector<const Replicate*>& b,
                        Pair& pair) try {
  pair.examples = tested(a, b, pair.same_set);
} catch (const Error& error) {
  pair.no_examples = error.what();
}

PermutationTest ExampleTests::tested(const std::vector<const Replicate*>& a,
                                     const std::vector<const Replicate*>& b, bool same_set) {
  if (!measure_)
    throw Error(metric_ +
                " does not follow from the counts of single examples; f1, precision and recall "
                "of dev or test do, also of one type, and token_accuracy");
  const std::vector<Counts> left = read(a), right = read(b);
  if (left.empty() || right.empty()) throw Error("a candidate has no complete run");
  if (!same_set) throw Error("the " + measure_->split + " sets are not the same");
  for (const auto* side : {&left, &right})
    for (const Counts& counts : *side)
      if (counts.size() != left[0].size()) throw Error("the predictions are not of the same examples");
  return permutation_test(left, right, *measure_);
}

std::vector<ExampleTests::Counts> ExampleTests::read(const std::vector<const Replicate*>& replicates) {
  std::vector<Counts> all;
  for (const Replicate* replicate : replicates) {
    const RunRow& run = replicate->run;
    auto found = counts_.find(run.number);
    if (found == counts_.end()) {
      const auto file = recorded_artifact(store_, run, "predictions/" + measure_->split + ".jsonl");
      found = counts_.emplace(run.number, read_example_counts(file, *measure_)).first;
    }
    all.push_back(found->second);
  }
  return all;
}

}  // namespace encore
