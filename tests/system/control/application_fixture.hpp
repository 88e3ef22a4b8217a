// SPDX-License-Identifier: BSD-3-Clause
// ApplicationTest: a sandbox with the application "desk", which sends requests to two departments, and with
// "departments", the experiment that trains its model. Tests of applications (application_test.cpp), of their
// review queue (review_test.cpp) and of the examples in the help (help_test.cpp) use it. The names desk,
// departments and billing must stay, because examples in the help have them, and so must the lines of
// `application` that tests replace (write_changed). The sets may grow; with fewer examples the step `decide`
// may find no threshold.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "system/control/serving.hpp"

namespace encore::system_test {

/// Returns lines "text<TAB>label": each text has one word that decides its label, and one in six is out of
/// scope if `outside`.
inline std::string requests(int begin, int end, bool outside) {
  const char* words[] = {"invoice", "parcel"};
  const char* labels[] = {"billing", "delivery"};
  const char* more[] = {"please help with the", "where is my", "a question about the", "the", "now the"};
  std::string lines;
  for (int i = begin; i < end; ++i) {
    const std::string number = " of order " + std::to_string(i);
    if (outside && i % 6 == 5)
      lines += "the weather in town" + number + "\tother\n";
    else
      lines += std::string(more[i % 5]) + " " + words[i % 2] + number + "\t" + labels[i % 2] + "\n";
  }
  return lines;
}

inline constexpr const char* application = R"(name = "desk"
[app]
steps = ["department", "decide"]
[app.step.department]
type = "predict"
model = { experiment = "departments.toml" }
vectors = true
[app.step.decide]
type = "decide"
error = 0.3
out_of_scope = "other"
[data]
type = "tsv"
dev = "decisions.tsv"
test = "test.tsv"
)";

/// Writes the application "desk", the experiment "departments" that trains its model, and their data.
inline void write_application(const Sandbox& sandbox) {
  std::string departments = tiny_experiment("departments");
  replace_all(departments, "\"ner\"", "\"classify\"");
  replace_all(departments, "\"conll\"", "\"tsv\"");
  replace_all(departments, ".conll", ".tsv");
  replace_all(departments, "test = \"test.tsv\"\n", "");
  replace_all(departments, "vocab_size = 60", "vocab_size = 120");
  sandbox.write("departments.toml", departments);
  sandbox.write("train.tsv", requests(0, 60, false));
  sandbox.write("dev.tsv", requests(60, 90, false));
  sandbox.write("decisions.tsv", requests(90, 450, true));
  sandbox.write("test.tsv", requests(450, 570, true));
  sandbox.write("desk.toml", application);
}

class ApplicationTest : public Serve {
 protected:
  void SetUp() override { RealWorkerTest::SetUp(); }  // without the run that Serve trains

  ApplicationTest() { write_application(sandbox_); }

  json json_of(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return json::parse(output_of(arguments));
  }
  void write_changed(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = application;
    replace_all(text, from, to);
    sandbox_.write(file, text);
  }
};

}  // namespace encore::system_test
