// Tests of the step "my_plugin" that only its author can write: what is found, how many words are enough, and
// what is refused. `exp plugin check` tests what every step must do. CTest runs it after a build. Change it
// together with my_plugin.cpp.
#include <cstdio>

#include <encore/testing.hpp>

#include "my_plugin.cpp"

namespace {

using encore::Records;

int failures = 0;
void expect(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  failures += condition ? 0 : 1;
}

/// Returns a step that looks for these words.
my_plugin_step::MyPluginStep step_for(const std::vector<std::string>& words) {
  return {encore::options_with<my_plugin_step::MyPluginStep>("words", words), {.name = "route"}};
}

/// The word "rain" alone does not show a text about the weather, two words do.
Records records() {
  Records records;
  records.add("text", Records::Texts{"Rain and snow, again", "rain on me: a song", "snow after the rain"});
  records.add("label", Records::Texts{"weather", "music", "weather"});
  return records;
}

void finds_what_has_enough_words() {
  my_plugin_step::MyPluginStep step = step_for({"rain", "snow"});
  step.fit({.dev = records()});
  expect(step.knowledge() == "at least 2 words", "one word is too few");
  const Records given = step.apply(records());
  expect(given.texts("label") == Records::Texts{"weather", "", "weather"}, "those with two words");
  expect(given.numbers("words") == Records::Numbers{2.0, 1.0, 2.0}, "words in any case, without a comma");
}

void counts_what_is_right() {
  my_plugin_step::MyPluginStep step = step_for({"rain"});
  step.fit({.dev = records()});
  encore::Statistics statistics;
  step.measure(records(), step.apply(records()), statistics);
  double found = 0.0, right = 0.0;
  for (const encore::Statistics::Entry& entry : statistics.entries()) {
    if (statistics.columns()[entry.column] == "found") found += entry.value;
    if (statistics.columns()[entry.column] == "right") right += entry.value;
  }
  expect(found == 3.0 && right == 2.0, "two of three are right");
}

template <class Call>
void expect_refused(const Call& call, const std::string& said) {
  try {
    call();
    expect(false, said.c_str());
  } catch (const encore::Error& error) {
    expect(std::string(error.what()).find(said) != std::string::npos, "the error says what to do");
  }
}

void refuses_what_it_cannot_use() {
  expect_refused([] { step_for({}); }, "expected at least one word");
  expect_refused([] { step_for({"rain"}).restore("at least 2 words"); }, "expected \"at least 1 words\"");
  Records music;
  music.add("text", Records::Texts{"rain on me"});
  music.add("label", Records::Texts{"music"});
  expect_refused([&] { step_for({"rain"}).fit({.dev = music}); }, "give some in data.dev");
}

}  // namespace

int main() {
  finds_what_has_enough_words();
  counts_what_is_right();
  refuses_what_it_cannot_use();
  std::puts(failures == 0 ? "all passed" : "some failed");
  return failures == 0 ? 0 : 1;
}
