// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "squad": mutated SQuAD files go to the reader "squad" (plugins/readers/squad.cpp). Every
// answer must be at its stated place, and every question must have its own context. fuzz.cpp calls the
// target; read target.hpp first.
#include <stdexcept>

#include "base/utf8.hpp"
#include "fuzz/target.hpp"
#include "squad.hpp"

namespace encore::fuzz {

namespace {

class SquadTarget final : public Target {
 public:
  std::string name() const override { return "squad"; }

  std::vector<std::string> corpus() override {
    return {
        R"({"data":[{"title":"T","paragraphs":[{"context":"Zoë lives in Malmö.","qas":[{"id":"1","question":"Who?",)"
        R"("answers":[{"text":"Zoë","answer_start":0},{"text":"lives","answer_start":4}]}]}]}]})",
        R"({"version":"v2.0","data":[{"paragraphs":[{"qas":[{"id":"2","question":"Why?","is_impossible":true,)"
        R"("answers":[],"plausible_answers":[]}],"context":"rain"},{"context":"\u00e5\ud83d\ude42","qas":[]}]}]})"};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const Words words = [] {
      Words all = json_words();
      all.insert(all.end(), {"\\ud83d", "\"data\"", "\"context\"", "\"qas\"", "\"text\"", "\"answers\"",
                             "\"answer_start\"", "\"is_impossible\"", "\xc3\xb6"});
      return all;
    }();
    mutate_bytes(input, words, others, random);
  }

  void take(const std::string& input) override {
    if (find_invalid_utf8(input)) return;  // refused before the reader sees it (base/load_file.hpp)
    const InputText file{"fuzz.json", input};
    for (const char* bad_rows : {"skip", "error"}) {
      Options options;
      options.set("bad_rows", std::string(bad_rows));
      const squad::SquadReader reader(options, {});
      const Records records = reader.read({&file, 1}, "training set");
      require_sound(records);
      if (std::string_view(bad_rows) == "error") require_same_questions(reader, file, records);
    }
  }

 private:
  static void require_same_questions(const Reader& reader, const InputText& file, const Records& records) {
    const std::optional<Records> asked = reader.read_questions(file);
    for (const char* field : {"id", "question", "context"})
      if (!asked || asked->texts(field) != records.texts(field))
        throw std::logic_error("questions that are not those of the records");
    Records answers;
    answers.add("answers", records.spans("answers"));
    if (reader.write_answers(file, answers).empty()) throw std::logic_error("no answers are written");
  }
  static void require_sound(const Records& records) {
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (records.texts("id")[i].empty() || records.texts("question")[i].empty())
        throw std::logic_error("a question without a text");
      for (const TextSpan& answer : records.spans("answers")[i])
        if (answer.text.empty() || answer.start < 0 || answer.end <= answer.start ||
            records.texts("context")[i].find(answer.text) == std::string::npos)
          throw std::logic_error("an answer that the context does not have: " + answer.text);
    }
  }
};

}  // namespace

std::unique_ptr<Target> make_squad_target() {
  return std::make_unique<SquadTarget>();
}

}  // namespace encore::fuzz
