// What only the author of "my_plugin" knows: what a text becomes. The rest (equal numbers on four threads,
// what it knows kept and restored, measures that are best for the truth) is checked by `exp plugin check`.
#include <cstdio>

#include "my_plugin.cpp"

using namespace encore;

/// A piece per letter, by its code.
class Letters final : public Tokenizer {
 public:
  void load(std::vector<std::string>) override {}
  void train(const std::map<std::string, std::int64_t>&) override {}
  std::span<const std::string> vocabulary() const override { return {}; }
  SpecialPieces special() const override { return {0, 1, 2, 3}; }
  void encode(std::string_view text, std::vector<std::int32_t>& pieces) const override {
    pieces.insert(pieces.end(), text.begin(), text.end());
  }
};

int main() {
  Records records;
  records.add("text", Records::Texts{"abc", "x"});
  records.add("label", Records::Texts{"good", "bad"});
  Options options;
  options.set("keep", std::string("end"));
  my_plugin_task::MyPluginTask task(options, {.max_length = 4});
  task.prepare(records);
  EncodedExample example{.ids = {}, .columns = {{}, {}}};
  task.encode(records, 0, Letters(), example);
  const bool right = example.ids == std::vector<std::int32_t>{2, 'b', 'c', 3} &&
                     example.columns[0] == std::vector<std::int32_t>{1, no_target, no_target, no_target};
  std::puts(right ? "all passed"
                  : "FAILED: the end of a long text is kept, its class stands on the first row");
  return right ? 0 : 1;
}
