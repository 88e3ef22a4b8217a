// What every task promises, by one small run of each: it learns; a run that was stopped ends with the bits of
// one that was not; threads change no bit; gradient shards are taken. A new task adds its case to the list.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "data/hash.hpp"
#include "support/child_threads.hpp"
#include "support/training_runs.hpp"

namespace encore {
namespace {

namespace fs = std::filesystem;
using testing::Recorder;
using testing::ScriptedControl;

struct Case {
  std::string name;
  std::string task;
  std::string data;  ///< what [data] has beside its files
  std::string head;
  /// Line i of a file.
  std::string (*line)(int i);
  std::string measure;  ///< in the conclusion
  double at_least = 0.0;
  std::string attention = "type = \"self_attention\"";
  std::vector<std::string> overrides = {};  ///< of [model]
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.name;
}

const char* const words[] = {"good", "great", "bad", "dull"};
const char* const things[] = {"film", "plot", "cast", "scene", "end"};

std::string review(int i) {
  return std::string("a ") + words[i % 4] + " " + things[i % 5];
}
std::string one_label(int i) {
  return review(i) + "\t" + (i % 4 < 2 ? "positive" : "negative");
}
/// The second text alone decides, so that a model has to read it.
std::string pair_label(int i) {
  return review(i) + "\t" + words[i / 4 % 4] + "\t" + (i / 4 % 4 < 2 ? "praised" : "panned");
}
std::string several_labels(int i) {
  return review(i) + "\t" + (i % 4 < 2 ? "positive" : "") +
         (i % 4 == 1   ? ",strong"
          : i % 4 == 3 ? "strong"
                       : "");
}
std::string number(int i) {
  return review(i) + "\t" + std::to_string(3 - i % 4) + ".5";
}

/// A task that any encoder learns, by another model.
Case of_layer(const std::string& name, const std::string& attention,
              const std::vector<std::string>& overrides = {}) {
  return {.name = name,
          .task = "classify",
          .data = "type = \"tsv\"",
          .head = "linear",
          .line = one_label,
          .measure = "test/accuracy",
          .at_least = 0.9,
          .attention = attention,
          .overrides = overrides};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {.name = "classify",
       .task = "classify",
       .data = "type = \"tsv\"",
       .head = "linear",
       .line = one_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "classify_pairs",
       .task = "classify",
       .data = "type = \"tsv\", text2_column = \"2\", label_column = \"3\"",
       .head = "linear",
       .line = pair_label,
       .measure = "test/accuracy",
       .at_least = 0.9},
      {.name = "multilabel",
       .task = "multilabel",
       .data = "type = \"tsv\", label_type = \"list\"",
       .head = "sigmoid",
       .line = several_labels,
       .measure = "test/micro_f1",
       .at_least = 0.9},
      {.name = "regress",
       .task = "regress",
       .data = "type = \"tsv\", label_type = \"number\"",
       .head = "regression",
       .line = number,
       .measure = "test/spearman",
       .at_least = 0.9},
      of_layer("linear_attention", "type = \"linear_attention\""),
      of_layer("sparse_attention", "type = \"sparse_attention\", window = 1, stride = 2"),
      of_layer("disentangled_attention", "type = \"disentangled_attention\", max_distance = 3"),
      of_layer("factorised_embedding", "type = \"self_attention\", head_size = 5",
               {"model.embedding_width=6", "model.final_norm=true",
                "model.layer.feed_forward.activation=\"silu\""}),
  };
  return all;
}

/// A folder with the files of a case, removed at the end.
class Place {
 public:
  explicit Place(const Case& one)
      : case_(one),
        folder_(fs::temp_directory_path() /
                ("encore_promises_" + std::to_string(::getpid()) + "_" + one.name)) {
    fs::create_directories(folder_);
    for (const auto& [file, first, count] :
         {std::tuple{"train", 0, 80}, {"dev", 80, 20}, {"test", 100, 20}}) {
      std::ofstream out(folder_ / (std::string(file) + ".tsv"));
      for (int i = first; i < first + count; ++i) out << one.line(i) << '\n';
    }
  }
  Place(const Place&) = delete;
  ~Place() { fs::remove_all(folder_); }

  Recorder run(const std::string& name, const std::vector<std::string>& overrides = {},
               ScriptedControl control = ScriptedControl(), std::uint64_t seed = 3) const {
    const std::string text = "task.type = \"" + case_.task + "\"\ndata = { " + case_.data +
                             R"(, train = "train.tsv", dev = "dev.tsv", test = "test.tsv", max_length = 24 }
seed = 3
tokenizer = { type = "word", vocab_size = 40 }
optimizer = { type = "adam", learning_rate = 1e-2 }
schedule = { type = "linear", warmup_steps = 3 }
train = { batch_size = 8, epochs = 4, digest_steps = 4 }
[model]
width = 16
layers = 1
dropout = 0.1
block = ["attention", "feed_forward"]
layer.attention = { )" + case_.attention +
                             R"(, heads = 2 }
layer.feed_forward = { type = "feed_forward", hidden = 24 }
head.type = ")" + case_.head +
                             "\"\n";
    std::vector<std::string> all = case_.overrides;
    all.insert(all.end(), overrides.begin(), overrides.end());
    Specification of = testing::specification_of(text, folder_, {}, all);
    of.seed = seed;
    return testing::run_attempt(folder_ / name, of, control);
  }

 private:
  const Case& case_;
  fs::path folder_;
};

/// Of everything that a run of two epochs digests and concludes with.
std::string digest_of(const Case& one) {
  const Recorder told = Place(one).run("whole", {"train.epochs=2", "train.gradient_shards=2"});
  Sha256 hash;
  for (const auto& [what, sha256] : told.digests)
    hash.add(std::to_string(what.first) + what.second + sha256 + "\n");
  for (const auto& [name, value] : told.result) hash.add(name + " " + std::to_string(value) + "\n");
  return hash.hex();
}

class Promises : public ::testing::TestWithParam<Case> {};

TEST_P(Promises, ItLearns) {
  const Recorder told = Place(GetParam()).run("whole", {"train.epochs=12", "model.dropout=0"});
  ASSERT_EQ(told.ending, Ending::completed) << told.reason;
  EXPECT_LT(told.steps.back().loss, told.steps.front().loss);
  EXPECT_GE(told.result.at(GetParam().measure), GetParam().at_least);
}

TEST_P(Promises, AStoppedRunEndsWithTheBitsOfOneThatWasNot) {
  const Place place(GetParam());
  const Recorder whole = place.run("whole");
  place.run("stopped", {}, ScriptedControl(17));
  const Recorder rest = place.run("stopped");
  ASSERT_FALSE(rest.digests.empty());
  for (const auto& [what, sha256] : rest.digests) EXPECT_EQ(sha256, whole.digests.at(what)) << what.first;
  EXPECT_EQ(rest.result, whole.result);
  // The injected change: the rest of the run takes its examples in another order.
  place.run("reordered", {}, ScriptedControl(17));
  EXPECT_NE(place.run("reordered", {}, ScriptedControl(), 4).digests, rest.digests);
}

TEST_P(Promises, ShardsAndPrecisionsAreTaken) {
  for (const char* setting : {"train.gradient_shards=3", "train.precision=\"bfloat16\""}) {
    const Recorder told = Place(GetParam()).run("whole", {setting});
    EXPECT_EQ(told.ending, Ending::completed) << setting << ": " << told.reason;
    EXPECT_LT(told.steps.back().loss, told.steps.front().loss) << setting;
  }
}

TEST_P(Promises, OneTwoAndThreeThreadsGiveEqualBits) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const auto in_child = [](int threads) {
    return testing::digest_of_child("train_test", "Cases/PromisesChild.DISABLED_Trains/" + GetParam().name,
                                    threads);
  };
  const std::string one = in_child(1);
  EXPECT_EQ(in_child(2), one);
  EXPECT_EQ(in_child(3), one);
}

class PromisesChild : public ::testing::TestWithParam<Case> {};

/// Runs in the child: prints what the parent compares.
TEST_P(PromisesChild, DISABLED_Trains) {
  testing::print_digest(digest_of(GetParam()));
}

const auto name_of_case = [](const ::testing::TestParamInfo<Case>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Cases, Promises, ::testing::ValuesIn(cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Cases, PromisesChild, ::testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace encore
