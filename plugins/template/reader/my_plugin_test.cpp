// Tests of the reader "my_plugin" that only its author can write: expected records, and refused files. `exp
// plugin check` tests what every reader must do: read what it writes, and give equal records twice. CTest
// runs it after a build. Change it together with my_plugin.cpp.
#include <cstdio>

#include <encore/testing.hpp>

#include "my_plugin.cpp"

namespace {

int failures = 0;
void expect(bool condition, const char* what) {
  if (!condition) std::printf("FAILED: %s\n", what);
  failures += condition ? 0 : 1;
}

encore::Records read(const char* text, bool header = false) {
  const auto options = encore::options_with<my_plugin_reader::MyPluginReader>("header", header);
  const encore::InputText file{"a.tsv", text};
  return my_plugin_reader::MyPluginReader(options, {}).read({&file, 1}, "training set");
}

std::string refusal(const char* text) {
  try {
    read(text);
    return "nothing";
  } catch (const encore::Error& error) {
    return error.what();
  }
}

void reads_labels_and_texts() {
  const encore::Records records = read("good\tnever better\r\n\nbad\tworse\tand worse");
  expect(records.texts("label") == std::vector<std::string>{"good", "bad"}, "the labels are before the tab");
  expect(records.texts("text") == std::vector<std::string>{"never better", "worse\tand worse"},
         "the text is everything behind the first tab");
  expect(read("label\ttext\ngood\tfine\n", true).size() == 1, "a header is not an example");
}

void writes_the_header_once() {
  const auto options = encore::options_with<my_plugin_reader::MyPluginReader>("header", true);
  const my_plugin_reader::MyPluginReader reader(options, {});
  const encore::Records records = read("good\tfine\n");
  expect(reader.write(records, encore::FilePart::first) == "label\ttext\ngood\tfine\n",
         "the first part has the header");
  expect(reader.write(records, encore::FilePart::later) == "good\tfine\n", "later parts have none");
}

void labels_a_file() {
  const auto options = encore::options_with<my_plugin_reader::MyPluginReader>("header", false);
  const my_plugin_reader::MyPluginReader reader(options, {});
  encore::Records answers;
  answers.add("label", std::vector<std::string>{"good", "bad"});
  const encore::InputText blind{"a.tsv", "never better\r\n\nthe worst"},
      labelled{"a.tsv", "bad\tnever better\nbad\tthe worst\n"};
  for (const encore::InputText& file : {blind, labelled})
    expect(
        reader.read_questions(file)->texts("text") == std::vector<std::string>{"never better", "the worst"},
        "a label of the file changes nothing");
  expect(reader.write_answers(blind, answers) == "never better\tgood\r\n\nthe worst\tbad",
         "the lines stay as they are, with the label of the model behind them");
}

void names_every_line_that_is_wrong() {
  expect(refusal("good\tfine\nno tab\n\tno label\n") ==
             "a.tsv:2: expected a label, a tab and a text\na.tsv:3: expected a label, a tab and a text",
         "both lines are named");
  expect(refusal("") == "a.tsv: the training set has no example", "an empty file is named");
}

}  // namespace

int main() {
  reads_labels_and_texts();
  writes_the_header_once();
  labels_a_file();
  names_every_line_that_is_wrong();
  std::puts(failures == 0 ? "all passed" : "some failed");
  return failures == 0 ? 0 : 1;
}
