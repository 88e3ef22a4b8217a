// SPDX-License-Identifier: BSD-3-Clause
// The step "abstractive_summary": its options, segments of a text, and the rounds in which their summaries
// are summarized again. The worker calls it through AppStep (encore/step.hpp). A released default never
// changes, because runs are identified without values that equal their default. Read abstractive_summary.hpp
// first.
#include "abstractive_summary.hpp"

#include <algorithm>
#include <utility>

#include <encore/error.hpp>
#include <encore/lines.hpp>

#include "text_parts.hpp"

namespace encore::summary {
namespace {

/// What the model reads and learns, and the field of its answer (plugins/tasks/summarize).
constexpr const char *source_field = "source", *target_field = "target", *written_field = "summary";
constexpr std::size_t sources_at_once = 256;  // the model generates, so a batch of sources takes long

/// A text on its way to one summary.
struct Work {
  std::vector<std::string> segments;  ///< what the model summarizes next
  std::vector<std::string> of_text;   ///< the summaries of the segments of the text, if there are several
  std::size_t rounds = 0;
  bool is_done = false;
};

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts)
    if (!part.empty()) all += (all.empty() ? "" : " ") + part;
  return all;
}

}  // namespace

std::vector<std::string> joined_segments(const std::vector<std::string>& parts, std::size_t words) {
  std::vector<std::string> segments;
  std::size_t in_segment = 0;
  for (const std::string& part : parts) {
    const std::size_t more = count_words(part);
    if (more == 0) continue;
    if (!segments.empty() && in_segment + more <= words) {
      segments.back() += " " + part;
      in_segment += more;
    } else {
      segments.push_back(part);
      in_segment = more;
    }
  }
  return segments;
}

Schema AbstractiveSummary::options() {
  return common_options().integer(
      "segment_words", 200,
      {.help =
           "most words of a segment of the text that the model reads at once; a longer sentence is a segment "
           "of its own. A word is usually more than one token, so choose a number well below the "
           "data.max_length of the model",
       .min = 1,
       .max = 100000});
}

AbstractiveSummary::AbstractiveSummary(const Options& options, const StepContext& context)
    : SummaryStep(options, context, {"parts", "rounds"}),
      model_(context.model),
      segment_words_(static_cast<std::size_t>(options.integer("segment_words"))) {
  if (model_ == nullptr) return;  // the experiment file is only checked
  if (model_->fields().structure != std::vector<std::string>{source_field} ||
      model_->fields().truth != std::vector<std::string>{target_field})
    throw OptionError("model", "the model of step \"" + context.name +
                                   "\" does not write a target for a source: expected a model of the task "
                                   "summarize");
}

Records::Texts AbstractiveSummary::written_for(const Records::Texts& sources) {
  ENCORE_REQUIRE(model_ != nullptr, "a step that answers has a model");
  Records::Texts summaries(sources.size());
  for (std::size_t first = 0; first < sources.size(); first += sources_at_once) {
    const std::size_t end = std::min(sources.size(), first + sources_at_once);
    Records questions;
    questions.add(source_field, Records::Texts(sources.begin() + static_cast<std::ptrdiff_t>(first),
                                               sources.begin() + static_cast<std::ptrdiff_t>(end)));
    const Records answers = model_->answer(questions);
    if (!answers.has(written_field))
      throw Error("the model of step \"" + name() +
                  "\" writes no summary: expected a model of the task summarize, not of another task that "
                  "writes text");
    const Records::Texts& some = answers.texts(written_field);
    for (std::size_t i = first; i < end; ++i) summaries[i] = std::string(trimmed(some[i - first]));
  }
  return summaries;
}

Records AbstractiveSummary::apply(const Records& records) {
  std::vector<Work> works;
  for (const std::vector<std::string>& parts : parts_of(records)) {
    works.push_back({.segments = joined_segments(parts, segment_words_), .of_text = {}});
    works.back().is_done = works.back().segments.empty();
  }
  const auto is_open = [](const Work& work) { return !work.is_done; };
  while (std::ranges::any_of(works, is_open)) {
    Records::Texts sources;
    for (const Work& work : works)
      if (is_open(work)) sources.insert(sources.end(), work.segments.begin(), work.segments.end());
    const Records::Texts summaries = written_for(sources);
    std::size_t next = 0;
    for (Work& work : works) {
      if (work.is_done) continue;
      const std::size_t before = work.segments.size();
      std::vector<std::string> own(summaries.begin() + static_cast<std::ptrdiff_t>(next),
                                   summaries.begin() + static_cast<std::ptrdiff_t>(next + before));
      next += before;
      if (work.rounds++ == 0 && before > 1) work.of_text = own;
      work.segments = joined_segments(own, segment_words_);
      // Summaries as long as their segments do not become fewer; they are then the summary, one after the
      // other.
      work.is_done = before == 1 || work.segments.empty() || work.segments.size() >= before;
    }
  }
  Records::Texts summaries;
  Records::TextLists parts;
  Records::Numbers rounds;
  for (Work& work : works) {
    summaries.push_back(joined(work.segments));
    parts.push_back(std::move(work.of_text));
    rounds.push_back(static_cast<double>(work.rounds));
  }
  Records given = answer_with(records, std::move(summaries));
  given.add("parts", std::move(parts));
  given.add("rounds", std::move(rounds));
  return given;
}

}  // namespace encore::summary
