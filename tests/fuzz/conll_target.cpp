// SPDX-License-Identifier: BSD-3-Clause
// The fuzz target "conll": mutated CoNLL files go to the reader "conll" (plugins/readers/conll.cpp,
// readers/conll_questions.cpp). Every sentence that is read must have as many tags as words and valid IOB2
// tags, and writing labels into the file must leave its words unchanged. fuzz.cpp calls the target; read
// target.hpp first.
#include <stdexcept>

#include "base/utf8.hpp"
#include "conll.hpp"
#include "fuzz/target.hpp"

namespace encore::fuzz {

namespace {

class ConllTarget final : public Target {
 public:
  std::string name() const override { return "conll"; }

  std::vector<std::string> corpus() override {
    return {"-DOCSTART-\tO\n\nAnna\tB-PER\nBerg\tI-PER\nlives\tO\nin\tO\nLund\tB-LOC\n.\tO\n\nOslo\tB-LOC\n",
            "\xef\xbb\xbf"
            "Anna NNP B-NP I-PER\r\nsleeps VBZ B-VP O\r\n\r\nLund NNP B-NP I-LOC\r\nOslo NNP B-NP B-LOC\r\n",
            "Anna\tB-PER\nBerg\tE-PER\nin\tO\nLund\tS-LOC\n\n\u00c5sa\tB-PER\nvan\tI-PER\nDijk\tE-PER\n"};
  }

  void mutate(std::string& input, const std::vector<std::string>& others, Random& random) override {
    static const Words words = {"\t",
                                " ",
                                "\n",
                                "\r\n",
                                "\n\n",
                                "B-",
                                "I-",
                                "E-",
                                "S-",
                                "O",
                                "B-PER",
                                "I-LOC",
                                "-DOCSTART-",
                                "\xff",
                                "\xef\xbb\xbf",
                                "\xed\xa0\x80",
                                "\xf4\x90\x80\x80",
                                "\u2028",
                                "\u00a0",
                                "\u200b",
                                "word\tO\n",
                                "\tO\n",
                                std::string(1, '\0'),
                                "#",
                                "\x0b",
                                "\x0c"};
    mutate_bytes(input, words, others, random);
  }

  void take(const std::string& input) override {
    if (find_invalid_utf8(input)) return;  // refused before the reader sees it (base/load_file.hpp)
    answer_questions(input);
    const conll::Dataset set = conll::parse(input, "fuzz.conll", "training set");
    for (const conll::Sentence& sentence : set.sentences) {
      if (sentence.words.empty() || sentence.words.size() != sentence.tags.size())
        throw std::logic_error("a sentence without words, or with other tags than words");
      for (const std::string& tag : sentence.tags)
        if (!conll::is_tag(tag) || tag[0] == 'E' || tag[0] == 'S')
          throw std::logic_error("a tag that is not IOB2: " + tag);
    }
    const Records asked = conll::questions_in({.name = "fuzz.conll", .text = input}, {});
    if (asked.size() != set.sentences.size()) throw std::logic_error("other questions than sentences");
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (asked.lists("words")[i] != set.sentences[i].words)
        throw std::logic_error("a question with other words than its sentence");
  }

 private:
  /// Writes a label for each word into the file, as `exp predict --file` does: its words must stay the same.
  static void answer_questions(const std::string& input) {
    const InputText file{.name = "fuzz.conll", .text = input};
    Records asked;
    try {
      asked = conll::questions_in(file, {});
    } catch (const Error&) {
      return;
    }
    Records::TextLists labels = asked.lists("words");
    for (std::vector<std::string>& sentence : labels)
      for (std::string& word : sentence) word = "O";
    const std::string answered = conll::with_labels(file, labels, {});
    if (conll::questions_in({.name = "fuzz.conll", .text = answered}, {}).lists("words") !=
        asked.lists("words"))
      throw std::logic_error("labels make other questions of a file");
  }
};

}  // namespace

std::unique_ptr<Target> make_conll_target() {
  return std::make_unique<ConllTarget>();
}

}  // namespace encore::fuzz
