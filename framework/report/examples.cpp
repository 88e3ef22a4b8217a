// Sentences of the test set with what the best candidate found rightly, found wrongly and missed.
#include <algorithm>

#include "data/entities.hpp"
#include "report/predictions.hpp"
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore {

namespace {

/// Sentences shown of each kind, and the words a sentence may have.
constexpr std::size_t most_of_kind = 4;
constexpr std::size_t most_words = 40;

enum class Kind { right, wrong, missed };

struct Judged {
  std::vector<NerEntity> truth, predicted;
  std::size_t right = 0, wrong = 0, missed = 0;
};

Judged judge(const PredictedSentence& sentence) {
  std::vector<std::string> predicted = sentence.predicted;
  predicted.resize(sentence.truth.size(), "O");
  Judged judged{ner_entities(sentence.truth), ner_entities(predicted)};
  for (const NerEntity& entity : judged.predicted)
    ++(std::find(judged.truth.begin(), judged.truth.end(), entity) != judged.truth.end() ? judged.right
                                                                                         : judged.wrong);
  judged.missed = judged.truth.size() - judged.right;
  return judged;
}

bool overlaps(const NerEntity& a, const NerEntity& b) {
  return a.begin < b.end && b.begin < a.end;
}

/// What stands over a predicted entity that is not true: its type, and what is true there.
std::string wrong_label(const NerEntity& entity, const std::vector<NerEntity>& truth) {
  for (const NerEntity& other : truth)
    if (overlaps(entity, other))
      return entity.type + (other.type == entity.type ? ", other extent" : ", truly " + other.type);
  return entity.type;
}

/// The words, with each predicted entity marked, and what was missed where nothing was predicted.
Text marked(const PredictedSentence& sentence, const Judged& judged) {
  std::vector<Span> spans;
  const auto words = [&](std::int64_t begin, std::int64_t end) {
    std::string text;
    for (std::int64_t i = begin; i < end; ++i)
      text += (i == begin ? "" : " ") + sentence.words[static_cast<std::size_t>(i)];
    return text;
  };
  const auto count = static_cast<std::int64_t>(sentence.words.size());
  const auto covering = [](const std::vector<NerEntity>& entities, std::int64_t word) {
    return std::find_if(entities.begin(), entities.end(),
                        [&](const NerEntity& entity) { return entity.begin <= word && word < entity.end; });
  };
  for (std::int64_t at = 0; at < count;) {
    if (at > 0) spans.push_back({" "});
    if (const auto found = covering(judged.predicted, at); found != judged.predicted.end()) {
      const bool right = std::find(judged.truth.begin(), judged.truth.end(), *found) != judged.truth.end();
      spans.push_back({words(at, found->end), right ? Span::Kind::right : Span::Kind::wrong,
                       right ? found->type : wrong_label(*found, judged.truth)});
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
      spans.push_back({words(at, end), Span::Kind::missed, missed->type});
    else
      spans.push_back({words(at, end)});
    at = end;
  }
  return spans;
}

ItemList examples_of(const std::vector<PredictedSentence>& sentences, Kind kind) {
  ItemList list;
  for (const PredictedSentence& sentence : sentences) {
    if (list.items.size() == most_of_kind) break;
    if (sentence.words.size() > most_words) continue;
    const Judged judged = judge(sentence);
    const bool fits = kind == Kind::right   ? judged.right > 0 && judged.wrong == 0 && judged.missed == 0
                      : kind == Kind::wrong ? judged.wrong > 0
                                            : judged.missed > 0 && judged.wrong == 0;
    if (fits) list.items.push_back(marked(sentence, judged));
  }
  return list;
}

/// The first run of the best candidate whose predictions are there, or why there is none.
void add_examples(const Material& material, const Question& question, const std::string& split,
                  std::vector<Block>& blocks) {
  const std::optional<std::size_t> first = question.first();
  if (!first) return;
  std::string problem;
  for (const Replicate& replicate : question.comparison.candidates[*first].runs) {
    if (!replicate.value) continue;
    try {
      const std::vector<PredictedSentence> sentences = read_predictions(material.store, replicate.run, split);
      blocks.push_back(Paragraph{Text(
          {{"Sentences of " + split + " as "},
           code(replicate.run.name),
           {" has them, from its stored predictions: the first few of each kind, in the order of the set "
            "and of at most " +
            std::to_string(most_words) + " words, not chosen by hand. Marked are entities "},
           {"found rightly", Span::Kind::right, "type"},
           {", "},
           {"found wrongly", Span::Kind::wrong, "type"},
           {" and "},
           {"missed", Span::Kind::missed, "type"},
           {"."}})});
      for (const auto& [kind, title] : {std::pair{Kind::right, "Everything right:"},
                                        std::pair{Kind::wrong, "Something found that is not so:"},
                                        std::pair{Kind::missed, "Something missed:"}}) {
        ItemList list = examples_of(sentences, kind);
        if (list.items.empty()) continue;
        blocks.push_back(Paragraph{title});
        blocks.push_back(std::move(list));
      }
      return;
    } catch (const Error& error) {
      if (problem.empty()) problem = error.what();
    }
  }
  if (!problem.empty()) blocks.push_back(Notice{"There are no examples to show: " + problem + "."});
}

}  // namespace

Section examples_section(const Material& material) {
  Section section{"examples", "Examples"};
  const std::string split = material.metric.starts_with("dev/") ? "dev" : "test";
  for (const Question& question : material.questions) {
    if (material.hides_sentences(question))
      section.blocks.push_back(
          Notice{Text({{"Sentences are left out: "},
                       code("[data] private = true"),
                       {" marks the data of " + question.title + " as not to be shown."}})});
    else
      add_examples(material, question, split, section.blocks);
  }
  return section;
}

}  // namespace encore
