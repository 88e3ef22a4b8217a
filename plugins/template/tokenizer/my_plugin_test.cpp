// Checks what only the author of "my_plugin" knows: the tokens, and what is refused. `exp plugin check`
// checks the rest (training twice, loading, threads), the same for every plugin. CTest runs it after a build.
// Change it together with my_plugin.cpp.
#include <cstdio>

#include <encore/testing.hpp>

#include "my_plugin.cpp"

namespace {

using my_plugin_tokenizer::MyPluginTokenizer;

int failures = 0;
void expect(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  failures += condition ? 0 : 1;
}

MyPluginTokenizer make(std::int64_t length, std::int64_t vocab_size) {
  auto options = encore::default_options<MyPluginTokenizer>();
  options.set("length", length);
  options.set("vocab_size", vocab_size);
  return {options, {}};
}

/// Returns the tokens of a text, each followed by a bar.
std::string tokens_of(const MyPluginTokenizer& tokenizer, std::string_view text) {
  std::vector<std::int32_t> numbers;
  tokenizer.encode(text, numbers);
  std::string all;
  for (const std::int32_t number : numbers)
    all += tokenizer.vocabulary()[static_cast<std::size_t>(number)] + "|";
  return all;
}

void cuts_words_into_stretches() {
  MyPluginTokenizer tokenizer = make(3, 100);
  tokenizer.train({{"Paris", 2}, {"naïve", 1}, {"on", 5}});
  expect(tokens_of(tokenizer, "Paris") == "Par|is|", "Paris is Par and is");
  expect(tokens_of(tokenizer, "naïve") == "naï|ve|", "a letter of two bytes is one letter");
  expect(tokens_of(tokenizer, "on on") == "on|on|", "a blank ends a stretch and is not a token");
  expect(tokens_of(tokenizer, "Parma") == "Par|[UNK]|", "what is not in the vocabulary is unknown");
  expect(tokens_of(tokenizer, " \t").empty(), "white space has no tokens");
}

void tells_where_tokens_come_from_and_what_they_spell() {
  MyPluginTokenizer tokenizer = make(3, 100);
  tokenizer.train({{"Paris on", 2}, {"naïve", 1}});
  std::vector<std::int32_t> tokens;
  std::vector<encore::ByteRange> ranges;
  tokenizer.encode(" Paris naïve", tokens, ranges);
  expect(ranges == std::vector<encore::ByteRange>{{1, 4}, {4, 6}, {7, 11}, {11, 13}}, "ranges are bytes");
  expect(tokenizer.decode(tokens) == "Parisnaïve", "the tokens are concatenated");
  tokens = {tokenizer.special(encore::Special::start), tokenizer.special(encore::Special::unknown)};
  expect(tokenizer.decode(tokens).empty(), "special tokens have no text");
}

void keeps_the_most_frequent() {
  MyPluginTokenizer tokenizer = make(2, 6);
  tokenizer.train({{"aabb", 1}, {"bbcc", 3}, {"dd", 2}});
  const std::vector<std::string> expected = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "bb", "cc"};
  expect(std::equal(expected.begin(), expected.end(), tokenizer.vocabulary().begin(),
                    tokenizer.vocabulary().end()),
         "bb occurs four times, cc three times");
}

void takes_no_text_for_a_special_token() {
  MyPluginTokenizer tokenizer = make(5, 6);
  tokenizer.train({{"[SEP]", 9}, {"a", 1}});
  expect(tokens_of(tokenizer, "a [SEP]") == "a|[UNK]|", "[SEP] in a text does not end it");
}

void refuses_two_vocabularies() {
  const auto options = encore::options_with<MyPluginTokenizer>("length", std::int64_t{3});
  try {
    MyPluginTokenizer(options, {});
    expect(false, "no vocabulary at all is refused");
  } catch (const encore::OptionError& error) {
    expect(error.option() == "vocab", "the error names the option");
    expect(error.what() == std::string("give either vocab = \"FILE\", or vocab_size to train a vocabulary"),
           "the error says what to do");
  }
}

}  // namespace

int main() {
  cuts_words_into_stretches();
  tells_where_tokens_come_from_and_what_they_spell();
  keeps_the_most_frequent();
  takes_no_text_for_a_special_token();
  refuses_two_vocabularies();
  std::puts(failures == 0 ? "all passed" : "some failed");
  return failures == 0 ? 0 : 1;
}
