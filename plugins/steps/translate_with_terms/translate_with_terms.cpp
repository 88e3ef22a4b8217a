// SPDX-License-Identifier: BSD-3-Clause
// The step "translate_with_terms": its options, the two questions to the model, the estimate of the quality,
// its answers and measures. The worker calls it through AppStep (encore/step.hpp). A released default never
// changes, because runs are identified without values that equal their default. BLEU and chrF are those of
// the task translate, whose files are compiled in. Read translate_with_terms.hpp first.
#include "translate_with_terms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include <encore/error.hpp>
#include <encore/lines.hpp>
#include <encore/required_text.hpp>
#include <nlohmann/json.hpp>

#include "ngrams/text_scores.hpp"
#include "quality.hpp"
#include "ratio_measure.hpp"

namespace encore::translate_with_terms {
namespace {

using Json = nlohmann::json;
using steps::ratio;

constexpr int knowledge_version = 1;
constexpr double penalty = 1.0;          // of the weights of the regression
constexpr std::size_t fewest_cases = 5;  // of both kinds, for a regression
constexpr const char *source_field = "source", *target_field = "target";

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100.0 * share);
  return text;
}

[[noreturn]] void refuse_knowledge() {
  throw Error("the stored estimate of quality is damaged: remove the run and run the application again");
}

/// Returns how often each distinct span stands in a text.
std::map<std::string, std::size_t> counts_of(std::string_view text, const std::vector<Span>& spans) {
  std::map<std::string, std::size_t> counts;
  for (const Span& span : spans) ++counts[std::string(span.in(text))];
  return counts;
}

/// Returns the text without any span: what is translated, and what terms are looked for in.
std::string plain(std::string_view text) {
  return without_spans(text, spans_in(text)).text;
}

std::size_t missing_of(const RequiredText& term, std::string_view plain_text) {
  const std::size_t found = count_forms(plain_text, term.forms),
                    wanted = static_cast<std::size_t>(term.times);
  return found < wanted ? wanted - found : 0;
}

}  // namespace

// --- options ---

Schema TranslateWithTerms::options() {
  return Schema()
      .optional(
          "glossary", OptionType::path,
          {.help = "file with a line for each term: TERM, tab, TRANSLATION; more forms of the translation "
                   "that are accepted may follow, each after a tab"})
      .boolean(
          "ignore_case", true,
          {.help = "find a term of the glossary also if its letters are upper or lower case in the text"})
      .optional(
          "memory", OptionType::path,
          {.help = "file with a line for each text that is already translated: SOURCE, tab, TARGET; such a "
                   "text gets this translation unchanged"})
      .integer(
          "beam", 5,
          {.help = "outputs that the search follows; with 2 or more their agreement is a part of the quality",
           .min = 1,
           .max = 32})
      .integer("term_beam", 16,
               {.help = "the same for a text whose translation lacks a term or a span of the first search",
                .min = 1,
                .max = 32})
      .number(
          "review", 0.2,
          {.help = "share of the translations of the development set that would be left to a person: those "
                   "that are the most probably among the worst by chrF; 0: none is, and no quality is "
                   "estimated",
           .min = 0.0,
           .max = 0.9});
}

TranslateWithTerms::TranslateWithTerms(const Options& options, const StepContext& context)
    : name_(context.name),
      model_(dynamic_cast<GeneratesText*>(context.model)),
      beam_(options.integer("beam")),
      term_beam_(options.integer("term_beam")),
      review_share_(options.number("review")),
      is_ready_(review_share_ == 0.0) {
  const auto read = [&](const char* option, const auto& make) {
    if (!options.has(option)) return;
    try {
      make(options.text(option));
    } catch (const Error& error) {
      throw OptionError(option, error.what());
    }
  };
  read("glossary", [&](const std::string& file) { glossary_ = Glossary(file, options.flag("ignore_case")); });
  read("memory", [&](const std::string& file) { memory_ = TranslationMemory(file); });
  if (context.model == nullptr) return;  // the experiment file is only checked
  const std::string problem = model_ == nullptr ? "it generates no text" : model_->no_writing();
  if (!problem.empty())
    throw OptionError("model", "the model of step \"" + name_ + "\" does not translate: " + problem);
}

StepFields TranslateWithTerms::fields() const {
  return {.reads = {source_field},
          .truth = {target_field},
          .gives = {"translation", "confidence", band_field, "origin", "terms", "missing"}};
}

// --- one text ---

TranslateWithTerms::Job TranslateWithTerms::job_for(const std::string& source) const {
  Job job{.source = source, .spans = spans_in(source), .removed = {}, .stripped = {}, .terms = {}};
  if (const std::string* stored = memory_.find(source); stored != nullptr) {
    job.translation = *stored;
    job.is_stored = true;
    return job;
  }
  const std::string words = plain(source);
  job.is_copied = std::ranges::none_of(words_in(words), [&](const ByteRange& word) {
    return word.end - word.begin > 1 || joins_words(code_point_at(words, word.begin));
  });
  if (job.is_copied) job.translation = std::string(trimmed(source));
  job.terms = terms_of(words);
  remove_spans(job, false);
  return job;
}

/// Removes the tags of the source, or also its values.
void TranslateWithTerms::remove_spans(Job& job, bool values) const {
  job.removed = job.spans;
  std::erase_if(job.removed, [&](const Span& span) { return !values && !span.is_tag(); });
  job.stripped = without_spans(job.source, job.removed);
}

std::vector<RequiredText> TranslateWithTerms::terms_of(std::string_view text) const {
  std::map<std::size_t, RequiredText> by_entry;
  for (const Glossary::Use& use : glossary_.terms_in(text)) {
    const auto [term, is_new] =
        by_entry.emplace(use.entry, RequiredText{.forms = glossary_.entries()[use.entry].forms, .times = 1});
    if (!is_new) ++term->second.times;
  }
  std::vector<RequiredText> terms;
  for (auto& [entry, term] : by_entry) terms.push_back(std::move(term));
  return terms;
}

bool TranslateWithTerms::keeps_values(const Job& job, std::string_view text) const {
  std::vector<Span> values = job.spans, found = spans_in(text);
  std::erase_if(values, [](const Span& span) { return span.is_tag(); });
  const std::map<std::string, std::size_t> written = counts_of(text, found);
  return std::ranges::all_of(counts_of(job.source, values), [&](const auto& value) {
    const auto known = written.find(value.first);
    return known != written.end() && known->second == value.second;
  });
}

bool TranslateWithTerms::has_terms(const Job& job, std::string_view text) const {
  const std::string words = plain(text);
  return std::ranges::all_of(job.terms,
                             [&](const RequiredText& term) { return missing_of(term, words) == 0; });
}

// --- the model ---

void TranslateWithTerms::write(std::vector<Job*>& jobs, bool required) {
  if (jobs.empty()) return;
  Records::Texts sources;
  std::vector<WriteRequest> requests;
  for (const Job* job : jobs) {
    sources.push_back(job->stripped.text);
    const bool has_terms = required && !job->terms.empty();
    requests.push_back({.beam = has_terms ? std::max(term_beam_, beam_) : beam_,
                        .texts = beam_,
                        .required = has_terms ? job->terms : std::vector<RequiredText>()});
  }
  Records questions;
  questions.add(source_field, std::move(sources));
  std::vector<std::vector<WrittenText>> texts = model_->write(questions, requests);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i]->texts = std::move(texts.at(i));
    jobs[i]->translation = jobs[i]->texts.at(0).text;
  }
}

/// Returns the terms of a text with their translations, use by use in the order of both sentences. A term
/// that the translation has not as often as the text is left out.
std::vector<KnownPair> TranslateWithTerms::known_pairs(std::string_view source,
                                                       std::string_view translation) const {
  std::map<std::size_t, std::vector<ByteRange>> uses;
  for (const Glossary::Use& use : glossary_.terms_in(source))
    uses[use.entry].push_back({.begin = use.begin, .end = use.end});
  std::vector<KnownPair> pairs;
  for (const auto& [entry, sources] : uses) {
    const std::vector<std::string>& forms = glossary_.entries()[entry].forms;
    if (count_forms(translation, forms) != sources.size()) continue;
    std::size_t from = 0;
    for (const ByteRange& use : sources) {
      const ByteRange form = find_form(translation, forms, from);
      pairs.push_back({.source = use, .target = form});
      from = form.end;
    }
  }
  return pairs;
}

/// Puts the removed spans into the translations.
void TranslateWithTerms::place_spans(std::vector<Job>& jobs) {
  std::vector<Job*> with_spans_of;
  Records::Texts sources, targets;
  for (Job& job : jobs) {
    if (job.is_stored || job.is_copied || job.removed.empty()) continue;
    with_spans_of.push_back(&job);
    sources.push_back(job.stripped.text);
    targets.push_back(job.translation);
  }
  if (with_spans_of.empty()) return;
  const std::vector<TextAlignment> alignments = model_->align(sources, targets);
  for (std::size_t i = 0; i < with_spans_of.size(); ++i) {
    Job& job = *with_spans_of[i];
    TextAlignment alignment = alignments.at(i);
    align_known(alignment, known_pairs(job.stripped.text, targets[i]));
    job.translation = with_spans(job.source, job.removed, job.stripped, targets[i], alignment);
  }
}

/// Lists what the translation lacks. A stored translation is the user's own and lacks nothing.
void TranslateWithTerms::note_missing(Job& job) const {
  if (job.is_stored) return;
  const std::string words = plain(job.translation);
  for (const RequiredText& term : job.terms)
    for (std::size_t i = missing_of(term, words); i > 0; --i) job.missing.push_back(term.forms.front());
  const std::map<std::string, std::size_t> written = counts_of(job.translation, spans_in(job.translation));
  for (const auto& [span, count] : counts_of(job.source, job.spans)) {
    const auto known = written.find(span);
    if (known == written.end() || known->second != count) job.missing.push_back(span);
  }
}

// The model reads the source without its tags. If its translation then has the terms and the values, such as
// placeholders that a large model copies, it stays. Else the model is asked again: terms are required of the
// search, and values that it did not repeat are taken out of the source and put into the translation.
std::vector<TranslateWithTerms::Job> TranslateWithTerms::translated(const Records::Texts& sources) {
  ENCORE_REQUIRE(model_ != nullptr, "a step that answers has a model");
  std::vector<Job> jobs;
  for (const std::string& source : sources) jobs.push_back(job_for(source));
  std::vector<Job*> open;
  for (Job& job : jobs)
    if (!job.is_stored && !job.is_copied) open.push_back(&job);
  write(open, false);
  std::vector<Job*> again;
  for (Job* job : open) {
    const bool keeps = keeps_values(*job, job->translation);
    if (keeps && has_terms(*job, job->translation)) continue;
    if (!keeps) remove_spans(*job, true);
    again.push_back(job);
  }
  write(again, true);
  place_spans(jobs);
  for (Job& job : jobs) note_missing(job);
  return jobs;
}

// --- what the data decide ---

double TranslateWithTerms::confidence_of(const Job& job) const {
  if (job.is_stored || job.is_copied || review_share_ == 0.0) return 1.0;
  return 1.0 - logistic_.probability(quality_features(job.source, job.texts));
}

void TranslateWithTerms::fit(const StepSets& sets) {
  const std::vector<Job> jobs = translated(sets.dev.texts(source_field));
  const Records::Texts& targets = sets.dev.texts(target_field);
  std::vector<decide::LogisticRow> rows;
  std::vector<double> scores;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].is_stored || jobs[i].is_copied) continue;
    scores.push_back(sentence_chrf(jobs[i].translation, targets[i]));
    rows.push_back({.features = quality_features(jobs[i].source, jobs[i].texts)});
  }
  const auto rank = static_cast<std::size_t>(std::lround(review_share_ * static_cast<double>(rows.size())));
  std::vector<double> sorted = scores;
  std::ranges::sort(sorted);
  worst_chrf_ = sorted.empty() ? 0.0 : sorted[std::max<std::size_t>(rank, 1) - 1];
  std::size_t worst = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].is_yes = scores[i] <= worst_chrf_;
    worst += rows[i].is_yes ? 1 : 0;
  }
  if (worst < fewest_cases || rows.size() - worst < fewest_cases)
    throw Error("step \"" + name_ + "\": the development set has " + std::to_string(rows.size()) +
                " sentences to fit on, of which " + std::to_string(worst) +
                " are the worst, but the estimate of quality needs " + std::to_string(fewest_cases) +
                " of these and " + std::to_string(fewest_cases) +
                " others: give more data as data.dev, raise app.fit, or set review = 0");
  logistic_ = decide::fit_logistic(rows, penalty);
  std::vector<double> confidences;
  for (const decide::LogisticRow& row : rows)
    confidences.push_back(1.0 - logistic_.probability(row.features));
  std::ranges::sort(confidences);
  threshold_ = confidences[std::min(rank, confidences.size() - 1)];
  is_ready_ = true;
  notes_ = {"of " + std::to_string(rows.size()) + " sentences of the development set " +
            std::to_string(worst) + " have a chrF of at most " + percent(worst_chrf_) +
            "; translations that are among the better ones with a probability below " + percent(threshold_) +
            " are left to a person"};
}

std::string TranslateWithTerms::knowledge() const {
  if (!is_fitted()) return {};
  return Json{{"version", knowledge_version},     {"mean", logistic_.mean},
              {"deviation", logistic_.deviation}, {"weights", logistic_.weights},
              {"intercept", logistic_.intercept}, {"threshold", threshold_},
              {"worst_chrf", worst_chrf_}}
      .dump();
}

void TranslateWithTerms::restore(std::string_view knowledge) {
  if (!is_fitted()) return AppStep::restore(knowledge);
  try {
    const Json json = Json::parse(knowledge);
    logistic_ = {.mean = json.at("mean"),
                 .deviation = json.at("deviation"),
                 .weights = json.at("weights"),
                 .intercept = json.at("intercept")};
    threshold_ = json.at("threshold");
    worst_chrf_ = json.at("worst_chrf");
  } catch (const Json::exception&) {
    refuse_knowledge();
  }
  const std::size_t features = quality_features("", {WrittenText{.text = {}, .tokens = 1}}).size();
  if (logistic_.mean.size() != features || logistic_.deviation.size() != features ||
      logistic_.weights.size() != features || this->knowledge() != knowledge)
    refuse_knowledge();
  notes_.clear();
  is_ready_ = true;
}

// --- answers ---

Records TranslateWithTerms::apply(const Records& records) {
  ENCORE_REQUIRE(is_ready_, "fit() or restore() comes before apply()");
  std::vector<Job> jobs = translated(records.texts(source_field));
  Records::Texts translations, bands, origins, shown;
  Records::Numbers confidences;
  Records::TextLists terms, missing;
  for (Job& job : jobs) {
    const double confidence = confidence_of(job);
    const bool is_left = !job.missing.empty() || confidence < threshold_;
    std::string line = job.translation + "  (" + percent(confidence) + (is_left ? ", review" : "");
    for (const std::string& text : job.missing) line += ", lacks " + text;
    shown.push_back(line + ")");
    terms.emplace_back();
    for (const RequiredText& term : job.terms)
      terms.back().insert(terms.back().end(), static_cast<std::size_t>(term.times), term.forms.front());
    translations.push_back(std::move(job.translation));
    confidences.push_back(confidence);
    bands.emplace_back(is_left ? "review" : "answer");
    origins.emplace_back(job.is_stored ? "memory" : job.is_copied ? "source" : "model");
    missing.push_back(std::move(job.missing));
  }
  for (std::string& line : shown) std::ranges::replace(line, '\n', ' ');
  Records given;
  given.add("translation", std::move(translations));
  given.add("confidence", std::move(confidences));
  given.add(band_field, std::move(bands));
  given.add("origin", std::move(origins));
  given.add("terms", std::move(terms));
  given.add("missing", std::move(missing));
  given.add("shown", std::move(shown));
  return given;
}

// --- measures ---

std::vector<Measure> TranslateWithTerms::measures() {
  std::vector<Measure> all = ngrams::translation_measures();
  for (Measure& measure : all) {
    measure.always = true;
    measure.help.erase(0, std::string_view("with decode: ").size());
  }
  all.front().help =
      "BLEU of the whole set, as sacreBLEU computes it: nrefs:1, case:mixed, eff:no, tok:13a, "
      "smooth:exp";
  all.push_back(ratio("terms", "Terms",
                      "share of the terms of the glossary in the sentences that their "
                      "translations have, too, in one of the forms that the glossary names",
                      Better::higher, "terms_kept", "terms", false));
  all.push_back(ratio("spans", "Tags and values",
                      "share of the tags, placeholders, addresses and numbers that "
                      "stand in the translation exactly as often as in the text",
                      Better::higher, "spans_kept", "spans", false));
  all.push_back(ratio("stored", "From the memory", "share of the sentences that the translation memory has",
                      Better::neither, "stored", "texts"));
  all.push_back(ratio("reviewed", "Left to people", "share of the translations that are left to a person",
                      Better::neither, "reviewed", "texts"));
  all.push_back({.name = "quality_auroc",
                 .title = "AUROC of the quality",
                 .help =
                     "area under the ROC curve of the confidence for finding the worst translations: those "
                     "whose chrF is at most that of the worst share (review) of the development set",
                 .fraction = true,
                 .reducer = Reducer::area_under_ranks,
                 .columns = {"doubt", "is_worst"},
                 .always = false});
  return all;
}

void TranslateWithTerms::measure(const Records& records, const Records& given, Statistics& statistics) const {
  const Records::Texts &sources = records.texts(source_field), &targets = records.texts(target_field),
                       &translations = given.texts("translation"), &bands = given.texts(band_field),
                       &origins = given.texts("origin");
  const Records::Numbers& confidences = given.numbers("confidence");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    statistics.begin_example();
    ngrams::add_translation(translations[i], targets[i], statistics);
    statistics.add("texts", 1.0);
    statistics.add("reviewed", bands[i] == "review" ? 1.0 : 0.0);
    statistics.add("stored", origins[i] == "memory" ? 1.0 : 0.0);
    if (origins[i] == "memory") continue;
    if (is_fitted() && origins[i] == "model") {
      statistics.add("doubt", 1.0 - confidences[i]);
      statistics.add("is_worst", sentence_chrf(translations[i], targets[i]) <= worst_chrf_ ? 1.0 : 0.0);
    }
    const std::string words = plain(translations[i]);
    for (const RequiredText& term : terms_of(plain(sources[i]))) {
      statistics.add("terms", static_cast<double>(term.times));
      statistics.add("terms_kept",
                     static_cast<double>(term.times) - static_cast<double>(missing_of(term, words)));
    }
    const std::map<std::string, std::size_t> written = counts_of(translations[i], spans_in(translations[i]));
    for (const auto& [span, count] : counts_of(sources[i], spans_in(sources[i]))) {
      const auto known = written.find(span);
      statistics.add("spans", static_cast<double>(count));
      statistics.add("spans_kept",
                     known != written.end() && known->second == count ? static_cast<double>(count) : 0.0);
    }
  }
}

}  // namespace encore::translate_with_terms
