// SPDX-License-Identifier: BSD-3-Clause
// The section "examples": examples of the test set with the output of the best candidate: for tasks with a
// label for each word the words with marked spans (correct, wrong, missed), for any other task the input and
// the prediction. report.cpp calls examples_section(). Examples of private data are not shown unless the user
// names the section. Read sections.hpp first.
#include <algorithm>

#include "analysis/predictions.hpp"
#include "base/label_spans.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of sentences of each kind, and of words of a sentence.
constexpr std::size_t most_of_kind = 4;
constexpr std::size_t most_words = 40;

enum class Kind { right, wrong, missed };

struct Judged {
  std::vector<LabelSpan> truth, predicted;
  std::size_t right = 0, wrong = 0, missed = 0;
};

Judged judge(const analysis::PredictedExample& sentence) {
  std::vector<std::string> predicted = sentence.predicted_labels;
  predicted.resize(sentence.true_labels.size(), "O");
  Judged judged{label_spans(sentence.true_labels), label_spans(predicted)};
  for (const LabelSpan& span : judged.predicted)
    ++(std::find(judged.truth.begin(), judged.truth.end(), span) != judged.truth.end() ? judged.right
                                                                                       : judged.wrong);
  judged.missed = judged.truth.size() - judged.right;
  return judged;
}

bool overlaps(const LabelSpan& a, const LabelSpan& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// Returns what is written at a wrong predicted span: its label, and the true one.
std::string wrong_label(const LabelSpan& span, const std::vector<LabelSpan>& truth) {
  for (const LabelSpan& other : truth)
    if (overlaps(span, other))
      return span.label + (other.label == span.label ? ", other extent" : ", truly " + other.label);
  return span.label;
}

/// Returns the words, with each predicted span marked, and missed spans where nothing was predicted.
document::Text marked(const analysis::PredictedExample& sentence, const Judged& judged) {
  std::vector<document::Span> spans;
  const auto words = [&](std::int64_t begin, std::int64_t end) {
    std::string text;
    for (std::int64_t i = begin; i < end; ++i)
      text += (i == begin ? "" : " ") + sentence.words[static_cast<std::size_t>(i)];
    return text;
  };
  const auto count = static_cast<std::int64_t>(sentence.words.size());
  const auto covering = [](const std::vector<LabelSpan>& found, std::int64_t word) {
    return std::find_if(found.begin(), found.end(),
                        [&](const LabelSpan& span) { return span.begin <= word && word < span.end; });
  };
  for (std::int64_t at = 0; at < count;) {
    if (at > 0) spans.push_back({" "});
    if (const auto found = covering(judged.predicted, at); found != judged.predicted.end()) {
      const bool right = std::find(judged.truth.begin(), judged.truth.end(), *found) != judged.truth.end();
      spans.push_back({words(at, found->end),
                       right ? document::Span::Kind::right : document::Span::Kind::wrong,
                       right ? found->label : wrong_label(*found, judged.truth)});
      at = found->end;
      continue;
    }
    const auto missed = covering(judged.truth, at);
    const std::int64_t limit = missed != judged.truth.end() ? missed->end : count;
    std::int64_t end = at + 1;
    while (end < limit && covering(judged.predicted, end) == judged.predicted.end() &&
           (missed != judged.truth.end() || covering(judged.truth, end) == judged.truth.end()))
      ++end;
    if (missed != judged.truth.end())
      spans.push_back({words(at, end), document::Span::Kind::missed, missed->label});
    else
      spans.push_back({words(at, end)});
    at = end;
  }
  return spans;
}

/// Returns the list of examples of one kind, for tasks with a label for each word.
document::ItemList labelled_examples(const std::vector<analysis::PredictedExample>& examples, Kind kind) {
  document::ItemList list;
  for (const analysis::PredictedExample& example : examples) {
    if (list.items.size() == most_of_kind) break;
    if (example.words.size() > most_words) continue;
    const Judged judged = judge(example);
    const bool fits = kind == Kind::right   ? judged.right > 0 && judged.wrong == 0 && judged.missed == 0
                      : kind == Kind::wrong ? judged.wrong > 0
                                            : judged.missed > 0 && judged.wrong == 0;
    if (fits) list.items.push_back(marked(example, judged));
  }
  return list;
}

/// Returns at most `most_words` words of a text: those around `part` if the text has it, else the first ones.
std::string excerpt(const std::string& text, const std::string& part) {
  if (static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) < most_words) return text;
  const std::size_t found = part.empty() ? std::string::npos : text.find(part);
  std::size_t begin = found == std::string::npos ? 0 : found, end = begin;
  for (std::size_t words = 0; words < most_words / 2 && begin > 0; ++words) {
    const std::size_t blank = begin < 2 ? std::string::npos : text.rfind(' ', begin - 2);
    begin = blank == std::string::npos ? 0 : blank + 1;
  }
  for (std::size_t words =
           static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                               text.begin() + static_cast<std::ptrdiff_t>(end), ' '));
       words < most_words && end < text.size(); ++words)
    end = std::min(text.find(' ', end + 1), text.size());
  return (begin > 0 ? "... " : "") + text.substr(begin, end - begin) + (end < text.size() ? " ..." : "");
}

/// Returns a record of any other task: its fields, followed by the prediction.
document::Text with_answer(const analysis::PredictedExample& example) {
  std::vector<document::Span> spans;
  for (const auto& [field, whole] : example.input) {
    const std::string text = excerpt(whole, example.predicted);
    if (example.input.size() > 1) spans.push_back(code(field));
    spans.push_back({(example.input.size() > 1 ? " " : "") + text + " "});
  }
  const bool right = example.predicted == example.truth;
  spans.push_back({example.predicted.empty() ? "(nothing)" : example.predicted,
                   right ? document::Span::Kind::right : document::Span::Kind::wrong,
                   right ? "predicted" : "truly " + example.truth});
  return spans;
}

std::size_t words_in(const analysis::PredictedExample& example) {
  std::size_t blanks = 0;
  for (const auto& [field, text] : example.input)
    blanks += 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
  return blanks;
}

/// Returns a list of short examples; if all are long, as the contexts of questions are, excerpts of the first
/// ones.
document::ItemList plain_examples(const std::vector<analysis::PredictedExample>& examples, bool right) {
  const auto is_short = [](const analysis::PredictedExample& example) {
    return words_in(example) <= most_words;
  };
  const bool any = std::ranges::none_of(examples, is_short);
  document::ItemList list;
  for (const analysis::PredictedExample& example : examples) {
    if (list.items.size() == most_of_kind) break;
    if ((any || is_short(example)) && (example.predicted == example.truth) == right)
      list.items.push_back(with_answer(example));
  }
  return list;
}

void add_list(const char* title, document::ItemList list, std::vector<document::Block>& blocks) {
  if (list.items.empty()) return;
  blocks.push_back(document::Paragraph{title});
  blocks.push_back(std::move(list));
}

/// Returns the introduction: "Examples of test as a has them, ...".
std::vector<document::Span> introduction(const std::string& what, const std::string& split,
                                         const store::RunRow& run) {
  return {{what + " of " + split + " as "},
          code(run.name),
          {" has them, from its stored predictions: the first few of each kind, in the order of the set and "
           "of at most " +
           std::to_string(most_words) + " words, not chosen by hand."}};
}

void add_blocks(const std::vector<analysis::PredictedExample>& examples, const std::string& split,
                const store::RunRow& run, std::vector<document::Block>& blocks) {
  const bool labelled = std::all_of(examples.begin(), examples.end(),
                                    [](const analysis::PredictedExample& one) { return one.has_labels(); });
  if (!labelled) {
    blocks.push_back(document::Paragraph{document::Text(introduction("Examples", split, run))});
    add_list("Right:", plain_examples(examples, true), blocks);
    add_list("Not right:", plain_examples(examples, false), blocks);
    return;
  }
  std::vector<document::Span> text = introduction("Sentences", split, run);
  text.insert(text.end(), {{" Marked is what was "},
                           {"found correctly", document::Span::Kind::right, "label"},
                           {", "},
                           {"found wrongly", document::Span::Kind::wrong, "label"},
                           {" and "},
                           {"missed", document::Span::Kind::missed, "label"},
                           {"."}});
  blocks.push_back(document::Paragraph{document::Text(std::move(text))});
  add_list("Everything right:", labelled_examples(examples, Kind::right), blocks);
  add_list("Something wrong was found:", labelled_examples(examples, Kind::wrong), blocks);
  add_list("Something missed:", labelled_examples(examples, Kind::missed), blocks);
}

/// Adds examples of the first run of the best candidate with predictions, or the reason why there is none.
void add_examples(const ReportData& data, const Question& question, const std::string& split,
                  std::vector<document::Block>& blocks) {
  const std::optional<std::size_t> first = question.first();
  if (!first) return;
  std::string problem;
  for (const analysis::Replicate& replicate : question.comparison.candidates[*first].runs) {
    if (!replicate.value) continue;
    try {
      return add_blocks(analysis::read_predictions(data.store, replicate.run, split), split, replicate.run,
                        blocks);
    } catch (const Error& error) {
      if (problem.empty()) problem = error.what();
    }
  }
  if (!problem.empty()) blocks.push_back(document::Notice{"There are no examples to show: " + problem + "."});
}

}  // namespace

document::Section examples_section(const ReportData& data) {
  document::Section section{"examples", "Examples"};
  for (const Question& question : data.questions) {
    const std::string split = question.metric().split() == "dev" ? "dev" : "test";
    if (data.hides_texts(question, section.id))
      section.blocks.push_back(
          document::Notice{document::Text({{"Sentences are left out: "},
                                           code("[data] private = true"),
                                           {" forbids showing the data of " + question.title + "."}})});
    else
      add_examples(data, question, split, section.blocks);
  }
  return section;
}

}  // namespace encore::report
