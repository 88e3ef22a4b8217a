// Checks what only the author of "my_plugin" knows: what a text becomes. `exp plugin check` checks the rest:
// equal numbers on four threads, stored knowledge, measures that are best for the truth. CTest runs it after
// a build. Change it together with my_plugin.cpp.
#include <cstdio>

#include <encore/testing.hpp>

#include "my_plugin.cpp"

using namespace encore;

/// A token per letter, by its code.
class Letters final : public Tokenizer {
 public:
  void load(std::vector<std::string>) override {}
  void train(const TextCounts&) override {}
  std::span<const std::string> vocabulary() const override { return {}; }
  std::optional<std::int32_t> find(Special role) const override { return static_cast<std::int32_t>(role); }
  std::string decode(std::span<const std::int32_t> tokens) const override {
    return {tokens.begin(), tokens.end()};
  }

 protected:
  void append_tokens(std::string_view text, std::vector<std::int32_t>& tokens,
                     std::vector<ByteRange>*) const override {
    tokens.insert(tokens.end(), text.begin(), text.end());
  }
};

int main() {
  Records records;
  records.add("text", Records::Texts{"abc", "x"});
  records.add("label", Records::Texts{"good", "bad"});
  my_plugin_task::MyPluginTask task(options_with<my_plugin_task::MyPluginTask>("keep", std::string("end")),
                                    {.max_length = 4});
  task.prepare(records);
  EncodedExample both;  // one behind the other, as in a set
  both.columns.resize(2);
  for (std::size_t record = 0; record < 2; ++record) task.encode(records, record, Letters(), both);
  const bool encoded = both.ids == std::vector<std::int32_t>{2, 'b', 'c', 3, 2, 'x', 3} &&
                       both.integers(0) == std::vector<std::int32_t>{1, 0};

  const std::vector<std::int32_t> lengths = {4, 3};
  std::vector<ColumnValues> columns;
  for (std::size_t i = 0; i < 2; ++i)
    columns.push_back({.rule = task.columns()[i], .integers = both.integers(i)});
  const ExampleSet set({.lengths = lengths, .ids = both.ids, .columns = columns}, nullptr);
  Outputs outputs(set, task.outputs());
  outputs.all().front().integers = {1, 1};  // the model answers "good" twice
  Statistics statistics;
  task.measure(set, outputs, statistics);
  double right = 0.0;
  for (const Statistics::Entry& entry : statistics.entries())
    if (statistics.columns()[entry.column] == "right") right += entry.value;

  if (!encoded) std::puts("FAILED: the end of a long text is kept, beside its class");
  if (right != 1.0) std::puts("FAILED: one of two answers is right");
  if (!encoded || right != 1.0) return 1;
  std::puts("all passed");
  return 0;
}
