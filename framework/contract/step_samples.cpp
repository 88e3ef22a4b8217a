// SPDX-License-Identifier: BSD-3-Clause
// Makes the records and the model for the checks of steps (StepTrial). step_checks.cpp calls it. Values
// follow from hashes, so they are equal on every machine; the label of a classifier is the truth in about 80
// % of the records, so that a step has something to fit. Read step_samples.hpp first.
#include "contract/step_samples.hpp"

#include <cstdlib>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "contract/sample_records.hpp"
#include "contract/task_samples.hpp"
#include "contract/word_label_samples.hpp"
#include "plugin_host/default_options.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

constexpr const char* step_name = "checked";
constexpr const char* step_before = "before";
constexpr const char* model_option = "model";
constexpr std::size_t vector_width = 8;
/// How often the suite's samples stand in a set, so that a step has enough of them to fit.
constexpr int sample_repeats = 8;

/// Numbers in [0, 1) that follow from a text.
class Draws {
 public:
  explicit Draws(const std::string& text) {
    for (const char letter : text)
      state_ = (state_ ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;  // FNV-1a
  }
  double next() {  // SplitMix64
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1.0p-53;
  }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(next() * static_cast<double>(count));
  }

 private:
  std::uint64_t state_ = 14695981039346656037ULL;
};

/// The answer of a classifier: the label is the most probable one, the probabilities sum to 1.
struct Answer {
  std::string label;
  double score = 0.0;
  std::map<std::string, double> scores;
  std::vector<double> vector;
};

Answer answer_with(const std::vector<std::string>& labels, std::size_t number, Draws& draws) {
  Answer answer{.label = labels[number], .scores = {}, .vector = {}};
  std::vector<double> weights;
  for (std::size_t i = 0; i < labels.size(); ++i)
    weights.push_back(i == number ? 1.0 + 6.0 * draws.next() : draws.next());
  double sum = 0.0;
  for (const double weight : weights) sum += weight;
  for (std::size_t i = 0; i < labels.size(); ++i) answer.scores[labels[i]] = weights[i] / sum;
  answer.score = answer.scores.at(answer.label);
  for (std::size_t i = 0; i < vector_width; ++i)
    answer.vector.push_back((i % labels.size() == number ? 1.0 : 0.0) + 0.5 * draws.next());
  return answer;
}

/// The records of a set by number, and what a classifier answers to them.
std::vector<Answer> answers_of(const Records::Texts& truths, const std::vector<std::string>& labels,
                               const std::string& set) {
  std::vector<Answer> answers;
  for (std::size_t i = 0; i < truths.size(); ++i) {
    Draws draws(set + " " + std::to_string(i) + " " + truths[i]);
    const auto known = std::ranges::find(labels, truths[i]);
    const bool is_right = draws.next() < 0.8;
    const std::size_t other = draws.below(labels.size());
    answers.push_back(answer_with(
        labels, known != labels.end() && is_right ? static_cast<std::size_t>(known - labels.begin()) : other,
        draws));
  }
  return answers;
}

template <class Take>
auto each_of(const std::vector<Answer>& answers, const Take& take) {
  std::vector<std::decay_t<decltype(take(answers.front(), std::size_t{0}))>> values;
  for (std::size_t i = 0; i < answers.size(); ++i) values.push_back(take(answers[i], i));
  return values;
}

/// Returns the part of "intent.label" behind the name of the step; "" for a field of the reader.
std::string behind_step(const std::string& field) {
  const std::size_t point = field.find('.');
  return point == std::string::npos ? "" : field.substr(point + 1);
}

struct SampleHit {
  const char *id, *document;
};

/// What a search may find: up to four documents, of which some are relevant by the sample labels.
constexpr SampleHit sample_hits[] = {{"long", "Anna lives in Lund. Ola does not."},
                                     {"person", "Bo met Ola Berg in Oslo"},
                                     {"place", "naïve plans for Zürich"},
                                     {"weather", "rain"}};

/// Returns the ids or the documents of the hits of a record: 0 to 4 of them.
std::vector<std::string> hits_of(std::size_t record, const char* SampleHit::*member) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < record % 5; ++i)
    values.emplace_back(sample_hits[(record + i) % std::size(sample_hits)].*member);
  return values;
}

/// Returns the values of a shared field (encore/records.hpp), as another step may give them.
Records::Values shared_values(const std::string& field, const std::string& name, std::size_t count) {
  Records samples;
  try {
    samples = sample_records({name}, SampleSet::train);
  } catch (const Error&) {
    throw NotChecked(
        "it reads the field \"" + field +
        "\" of another step, for which the suite has no samples: the suite knows the fields of a "
        "classifier, of decide and of a search, those of a model that labels words beside \"words\", and the "
        "shared fields of encore/records.hpp; a test of your "
        "own can pass such records to apply()");
  }
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(i % samples.size());
  return records_at(samples, numbers).fields().front().values;
}

Records::Values values_of(const std::string& field, const std::vector<Answer>& answers) {
  const std::string name = behind_step(field);
  if (name == "label") return each_of(answers, [](const Answer& each, std::size_t) { return each.label; });
  if (name == "scores") return each_of(answers, [](const Answer& each, std::size_t) { return each.scores; });
  if (name == "score" || name == "confidence")
    return each_of(answers, [](const Answer& each, std::size_t) { return each.score; });
  if (name == "scope")
    return each_of(answers, [](const Answer& each, std::size_t) { return 1.0 - each.score; });
  if (name == vector_field)
    return each_of(answers, [](const Answer& each, std::size_t) { return each.vector; });
  if (name == "hits")
    return each_of(answers, [](const Answer&, std::size_t i) { return hits_of(i, &SampleHit::id); });
  if (name == "texts")
    return each_of(answers, [](const Answer&, std::size_t i) { return hits_of(i, &SampleHit::document); });
  if (name == "band")
    return each_of(answers, [](const Answer&, std::size_t i) {
      return std::string(i % 5 == 4 ? "refuse" : i % 5 == 3 ? "review" : "answer");
    });
  return shared_values(field, name, answers.size());
}

std::vector<std::string> of_reader(const std::vector<std::string>& fields) {
  std::vector<std::string> own;
  for (const std::string& field : fields)
    if (behind_step(field).empty()) own.push_back(field);
  return own;
}

/// Returns the first truth with a text for each record, or empty text if there is none.
Records::Texts truths_in(const Records& records, const StepFields& fields, std::size_t count) {
  for (const std::string& name : fields.truth)
    for (const Records::Field& field : records.fields())
      if (const auto* texts = std::get_if<Records::Texts>(&field.values);
          texts != nullptr && field.name == name)
        return *texts;
  return Records::Texts(count);
}

std::vector<std::string> labels_in(const Records::Texts& truths) {
  std::set<std::string> labels(truths.begin(), truths.end());
  labels.erase("");
  if (labels.empty()) return {"a", "b", "c"};
  return {labels.begin(), labels.end()};
}

Records repeated(const Records& records, int times) {
  Records all = records;
  for (int i = 1; i < times; ++i) all = behind_each_other(all, records);
  return all;
}

/// Returns records with the fields of the reader that the step reads, and their truth.
Records read_records(const Offer& step, const CheckData& data, const StepFields& fields, SampleSet set) {
  // The samples of tasks do the same for the fields of a task.
  const Offer needs{.kind = Kind::task,
                    .name = step.name,
                    .options = {},
                    .needs = {.structure = of_reader(fields.reads), .truth = of_reader(fields.truth)}};
  const TaskSamples samples(needs, data);
  const Records records = set == SampleSet::train ? samples.train() : samples.other();
  return data.given() || records.size() == 0 ? records : repeated(records, sample_repeats);
}

OptionValue usable_value(const Option& option) {
  if (option.type == OptionType::number && option.rule.min && option.rule.max)
    return 0.5 * (*option.rule.min + *option.rule.max);
  return plugin_host::smallest_value(option);
}

}  // namespace

TrialFolder::TrialFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "encore-step-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error("cannot make the folder " + pattern);
  path_ = pattern;
}

TrialFolder::~TrialFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

SampleModel::SampleModel(SampleTask task, std::vector<std::string> labels)
    : task_(task), labels_(std::move(labels)) {
  fields_ = {.structure = {"text"}, .truth = {"label"}};
  if (task == SampleTask::classify_pairs) fields_.optional = {"text2"};
  if (task == SampleTask::answer) {
    fields_ = {.structure = {"question", "context"}, .truth = {"answers"}, .optional = {"id"}};
    labels_.clear();
  }
  if (task == SampleTask::summarize || task == SampleTask::translate) {
    fields_ = {.structure = {"source"}, .truth = {"target"}};
    labels_.clear();
  }
}

Records SampleModel::answer(const Records& questions) {
  if (task_ == SampleTask::translate) {
    Records::Texts translations;
    Records::Numbers scores;
    for (const auto& texts : write(questions, std::vector<WriteRequest>(questions.size()))) {
      translations.push_back(texts.front().text);
      scores.push_back(texts.front().log_probability);
    }
    Records given;
    given.add("translation", translations);
    given.add("score", std::move(scores));
    given.add("shown", std::move(translations));
    return given;
  }
  if (task_ == SampleTask::classify) return classes_of(questions.texts("text"));
  if (task_ == SampleTask::summarize) return summaries_of(questions.texts("source"));
  const bool answers = task_ == SampleTask::answer;
  const Records::Texts &first = questions.texts(answers ? "question" : "text"),
                       &second = questions.texts(answers ? "context" : "text2");
  Records::Texts both;
  for (std::size_t i = 0; i < first.size(); ++i) both.push_back(first[i] + "\t" + second[i]);
  if (!answers) return classes_of(both);
  Records::SpanLists spans;
  Records::Numbers scores;
  for (std::size_t i = 0; i < both.size(); ++i) {
    Draws draws(both[i]);
    scores.push_back(draws.next());
    spans.emplace_back();
    if (second[i].empty() || draws.below(4) == 0) continue;  // no answer
    const std::string word = second[i].substr(0, second[i].find(' '));
    const auto points = std::ranges::count_if(word, [](char byte) { return (byte & 0xC0) != 0x80; });
    spans.back().push_back({.label = {}, .text = word, .start = 0, .end = points, .score = scores.back()});
  }
  Records given;
  given.add("answers", std::move(spans));
  given.add("score", std::move(scores));
  given.add("shown", both);
  return given;
}

/// Returns about half of the words of each source, which may be none.
Records SampleModel::summaries_of(const Records::Texts& sources) {
  Records::Texts summaries;
  for (const std::string& source : sources) {
    Draws draws(source);
    std::istringstream words(source);
    std::string summary;
    for (std::string word; words >> word;)
      if (draws.below(2) == 0) summary += (summary.empty() ? "" : " ") + word;
    summaries.push_back(std::move(summary));
  }
  Records given;
  given.add("summary", summaries);
  given.add("shown", std::move(summaries));
  return given;
}

Records SampleModel::classes_of(const Records::Texts& inputs) const {
  std::vector<Answer> answers;
  for (const std::string& text : inputs) {
    Draws draws(text);
    const std::size_t number = draws.below(labels_.size());
    answers.push_back(answer_with(labels_, number, draws));
  }
  Records given;
  for (const char* field : {"label", "score", "scores"})
    given.add(field, values_of(std::string(step_before) + "." + field, answers));
  given.add("shown", each_of(answers, [](const Answer& each, std::size_t) { return each.label; }));
  return given;
}

Records::NumberLists SampleModel::vectors(const Records::Texts& texts) {
  Records::NumberLists vectors;
  for (const std::string& text : texts) {
    Draws draws(text);
    std::vector<double> vector(vector_width);
    for (double& number : vector) number = draws.next() - 0.5;
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

std::string SampleModel::no_writing() const {
  return task_ == SampleTask::translate ? "" : "its task generates no text";
}

/// Text k is the source without its first k words, the required strings at its end.
std::vector<std::vector<WrittenText>> SampleModel::write(const Records& questions,
                                                         const std::vector<WriteRequest>& requests) {
  std::vector<std::vector<WrittenText>> all;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string& source = questions.texts("source")[i];
    Draws draws(source);
    std::vector<WrittenText>& texts = all.emplace_back();
    std::size_t first = 0;
    for (std::int64_t k = 0; k < requests[i].texts; ++k) {
      std::string text = source.substr(first);
      first = std::min(source.find(' ', first), source.size() - 1) + 1;
      for (const RequiredText& required : requests[i].required)
        for (std::int64_t time = 0; time < required.times && !required.forms.empty(); ++time)
          text += (text.empty() ? "" : " ") + required.forms.front();
      const auto blanks = std::ranges::count(text, ' ');
      texts.push_back({.text = text,
                       .log_probability = -draws.next() - static_cast<double>(k),
                       .tokens = static_cast<std::int64_t>(blanks) + 2});
    }
  }
  return all;
}

std::vector<TextAlignment> SampleModel::align(const Records::Texts& sources, const Records::Texts& targets) {
  std::vector<TextAlignment> all;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    TextAlignment& pair = all.emplace_back();
    if (sources[i].empty() || targets[i].empty()) continue;
    pair = {.source = {{.begin = 0, .end = sources[i].size()}},
            .target = {{.begin = 0, .end = targets[i].size()}},
            .weights = {1.0}};
  }
  return all;
}

StepTrial::StepTrial(const Offer& offer, const CheckData& data, const Options& options, OtherFields others)
    : offer_(offer), options_(options) {
  StepFields fields = make_only_checked(offer, options)->fields();
  const auto read = [&](SampleSet set) { return read_records(offer, data, fields, set); };
  if (offer.asks_model) {
    const Records records = read(SampleSet::train);
    fields = fields_with_model(labels_in(truths_in(records, fields, 0)));
  }
  fields_ = fields;
  const Records train = read(SampleSet::train), asked = read(SampleSet::other);
  // A step that reads fields of other steps only gets as many records as there are samples.
  const auto count_of = [&](const Records& records) {
    return records.fields().empty() ? std::size_t{80} : records.size();
  };
  const Records::Texts truths = truths_in(train, fields, count_of(train));
  const std::vector<std::string> labels = labels_in(truths);
  const auto with_steps = [&](const Records& records, const char* set) {
    Records all = records;
    const std::vector<Answer> answers =
        answers_of(truths_in(records, fields, count_of(records)), labels, set);
    std::vector<std::string> names = fields.reads;
    names.insert(names.end(), fields.truth.begin(), fields.truth.end());
    if (others == OtherFields::all)
      for (const char* name : {"label", "score", "scores", vector_field})
        names.push_back(std::string(step_before) + "." + name);
    const bool has_word_labels = reads_word_labels(names);
    for (const std::string& name : names) {
      if (behind_step(name).empty() || all.has(name)) continue;
      std::optional<Records::Values> of_words;
      if (has_word_labels) of_words = word_label_values(behind_step(name), records, set);
      all.add(name, of_words ? std::move(*of_words) : values_of(name, answers));
    }
    return all;
  };
  train_ = with_steps(train, "train");
  dev_ = with_steps(train, "dev");
  asked_ = with_steps(asked, "asked");
  require(dev_.size() > 0 && asked_.size() > 0,
          "fields() names no field that the step reads, so there is nothing that it could answer");
}

std::unique_ptr<AppStep> StepTrial::make(const std::string& folder) const {
  return plugin_host::make_offer<Kind::step>(offer_, options_,
                                             {.name = step_name,
                                              .before = step_before,
                                              .seed = 1,
                                              .model = model_.get(),
                                              .folder = this->folder(folder)});
}

/// Gives the trial the first sample model that the step takes, and returns the fields of the step with it. If
/// it takes none, throws what it throws for the first one, or NotChecked if it refuses the model itself.
StepFields StepTrial::fields_with_model(const std::vector<std::string>& labels) {
  std::optional<OptionError> refusal;
  for (const SampleTask task : {SampleTask::classify, SampleTask::classify_pairs, SampleTask::answer,
                                SampleTask::summarize, SampleTask::translate})
    try {
      model_ = std::make_unique<SampleModel>(task, labels);
      return make()->fields();
    } catch (const OptionError& error) {
      if (!refusal || refusal->option() == model_option) refusal = error;
    }
  if (refusal->option() == model_option) throw NotChecked(refused_models(refusal->what()));
  throw OptionError(*refusal);
}

void StepTrial::fit(AppStep& step) const {
  step.fit({.train = step.learns() ? &train_ : nullptr, .dev = dev_});
}

std::unique_ptr<AppStep> StepTrial::fitted(const std::string& folder) const {
  std::unique_ptr<AppStep> step = make(folder);
  if (step->is_fitted()) fit(*step);
  return step;
}

std::unique_ptr<AppStep> make_only_checked(const Offer& offer, const Options& options) {
  return plugin_host::make_offer<Kind::step>(offer, options, {.name = step_name, .before = step_before});
}

std::string refused_models(const std::string& why) {
  return "it cannot work with the models of the suite, which give \"label\", \"score\" and \"scores\" of "
         "\"text\" or of \"text\" and \"text2\", answers to \"question\" and \"context\", summaries of "
         "\"source\", or translations of \"source\": " +
         why + "; a test of your own can pass another StepModel";
}

std::vector<OptionsVariant> step_variants(const Offer& offer) {
  std::vector<OptionsVariant> variants = option_variants(offer.options);
  for (OptionsVariant& variant : variants)
    for (std::size_t tries = 0; tries <= offer.options.options().size(); ++tries) try {
        make_only_checked(offer, variant.options);
        break;
      } catch (const OptionError& error) {
        const Option* option = offer.options.find(error.option());
        if (option == nullptr || variant.options.has(option->name)) break;  // the checks report the refusal
        variant.options.set(option->name, usable_value(*option));
        variant.name += ", with a value of " + option->name;
      } catch (const Error&) {
        break;
      }
  return variants;
}

Records records_at(const Records& records, const std::vector<std::size_t>& numbers) {
  Records chosen;
  for (const Records::Field& field : records.fields())
    chosen.add(field.name, std::visit(
                               [&](const auto& values) -> Records::Values {
                                 std::decay_t<decltype(values)> some;
                                 for (const std::size_t number : numbers) some.push_back(values[number]);
                                 return some;
                               },
                               field.values));
  return chosen;
}

}  // namespace encore::contract
