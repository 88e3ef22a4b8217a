// What only the author of "my_plugin" knows: what a text becomes. The rest (equal numbers on four threads,
// what it knows kept and restored, measures that are best for the truth) is checked by `exp plugin check`.
#include <cstdio>

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
  Options options;
  options.set("keep", std::string("end"));
  my_plugin_task::MyPluginTask task(options, {.max_length = 4});
  task.prepare(records);
  EncodedExample example;
  example.columns.resize(2);
  task.encode(records, 0, Letters(), example);
  const bool right = example.ids == std::vector<std::int32_t>{2, 'b', 'c', 3} &&
                     example.integers(0) == std::vector<std::int32_t>{1};
  std::puts(right ? "all passed" : "FAILED: the end of a long text is kept, beside its class");
  return right ? 0 : 1;
}
