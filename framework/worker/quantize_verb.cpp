// SPDX-License-Identifier: BSD-3-Clause
// The verb quantize: writes a copy of a run's best weights, with matrices of 8 or 4 bit integers, beside the
// original, which must stay unchanged, and reports the model's scores before and after. For `exp quantize`.
// Read next: infer/quantization.hpp, infer/integer_weights.hpp (the file).
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include <encore/device.hpp>
#include <encore/lines.hpp>

#include "base/example_bootstrap.hpp"
#include "base/load_file.hpp"
#include "base/measures.hpp"
#include "infer/engine.hpp"
#include "infer/integer_weights.hpp"
#include "infer/quantization.hpp"
#include "record/quantize_answer.hpp"
#include "record/specification.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

namespace fs = std::filesystem;

/// Returns the records of a set if the run has files for it, or nothing.
std::optional<Records> records_of(const infer::Engine& engine, const record::Specification& specification,
                                  data::Split split) {
  const std::vector<std::string> files = record::files_of_role(specification.data, data::name_of(split));
  if (files.empty()) return {};
  tasks::ReadSet read = tasks::read_set(engine.reader(), files, std::string(data::name_of(split)) + " set");
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string role = record::numbered_file(data::name_of(split), i);
    record::require_planned(specification.data.at(role), role, read.sha256.at(i));
  }
  tasks::require_fields(read.records, engine.fields());
  return std::move(read.records);
}

/// A model's predictions on a set, and the sums from which measures are computed.
struct Score {
  Statistics statistics;
  double loss = 0.0;
};

Score score_of(infer::Engine& engine, const Records& records) {
  engine.extend(records);
  const tasks::EncodedSet set = engine.encode(records, host_threads());
  const infer::Evaluation evaluation = engine.run(set, telling_progress());
  return {tasks::measured(engine.task(), set.set, evaluation.outputs, "set"), evaluation.loss};
}

/// Returns every measure that is one number, before and after.
std::map<std::string, record::ScoreChange> compared(const std::vector<Measure>& measures, const Score& before,
                                                    const Score& after) {
  std::map<std::string, record::ScoreChange> all;
  for (const Measure& measure : measures) {
    if (is_family(measure) || !has_value(measure.reducer)) continue;
    MeasureCells cells(measure);
    const ExampleSums one = cells.sums_of(before.statistics), other = cells.sums_of(after.statistics);
    const MeasureDifference difference = paired_bootstrap(one, other, cells);
    all[measure.name] = {.before = difference.before,
                         .after = difference.after,
                         .difference = record::ScoreRange{difference.low, difference.high}};
  }
  all[loss_measure().name] = {.before = before.loss, .after = after.loss};
  return all;
}

std::vector<record::RoundedMatrix> rounded(const infer::Quantization& found) {
  std::vector<record::RoundedMatrix> matrices;
  for (const infer::QuantizedMatrix& matrix : found.matrices)
    matrices.push_back({.path = matrix.path,
                        .parameters = matrix.parameters,
                        .product = matrix.product,
                        .bits = matrix.bits,
                        .kept = matrix.kept(),
                        .growth = matrix.growth});
  return matrices;
}

/// Returns the lines of a file that are not empty, at most `most`.
std::vector<std::string> texts_of(const fs::path& file, std::size_t most) {
  const std::string all = load_text(file, "texts");
  std::vector<std::string> texts;
  for (Lines lines(all); texts.size() < most && lines.next();)
    if (lines.line().find_first_not_of(" \t") != std::string_view::npos) texts.emplace_back(lines.line());
  if (texts.empty()) throw Error(file.string() + " holds no text");
  return texts;
}

/// The sets that decide which matrices become integers, and those on which both models are scored.
class Judges {
 public:
  Judges(infer::Engine& engine, const record::Specification& specification,
         const QuantizeArguments& arguments) {
    for (const data::Split split : {data::Split::dev, data::Split::test})
      if (std::optional<Records> records = records_of(engine, specification, split)) {
        before_[split] = score_of(engine, *records);
        sets_[split] = std::move(*records);
      }
    if (!arguments.texts.empty())
      texts_ = engine.encode_texts(texts_of(arguments.texts, arguments.examples));
    else if (const auto dev = sets_.find(data::Split::dev); dev != sets_.end())
      sample_ = engine.encode(infer::first_records(dev->second, arguments.examples), host_threads());
    else
      throw Error(
          "the run has no development set (data.dev) by which it could be decided what is rounded; give "
          "lines of text, by whose vectors it is decided, with --texts FILE");
  }

  std::string judged_by() const { return texts_ ? "vectors" : "loss"; }
  std::size_t examples() const { return texts_ ? texts_->set.size() : sample_->set.size(); }
  infer::QuantizationCost cost(infer::Engine& engine) const {
    return texts_ ? infer::distance_of(engine, *texts_) : infer::loss_on(engine, *sample_);
  }
  /// Returns the scores of each set before, and those of this engine.
  std::map<std::string, std::map<std::string, record::ScoreChange>> compare(infer::Engine& engine) const {
    std::map<std::string, std::map<std::string, record::ScoreChange>> sets;
    for (const auto& [split, records] : sets_)
      sets[std::string(data::name_of(split))] =
          compared(engine.measures(), before_.at(split), score_of(engine, records));
    return sets;
  }

 private:
  std::map<data::Split, Records> sets_;
  std::map<data::Split, Score> before_;
  std::optional<infer::EncodedTexts> texts_;
  std::optional<tasks::EncodedSet> sample_;
};

/// Writes the file of integer weights.
record::SavedFile write_weights(const infer::Engine& engine, const record::Specification& specification,
                                const fs::path& folder, const infer::Quantization& found, const char* file) {
  record::WeightsFacts facts{.question = specification.question,
                             .step = engine.step(),
                             .tuned = engine.tuned(),
                             .files = infer::digests_of_meaning(folder),
                             .int8 = found.products(),
                             .made_from = engine.digest()};
  return infer::save_integer_weights(folder, file, engine.model(), found.stored(), std::move(facts));
}

}  // namespace

int quantize_verb(const TrainedRunArguments& run, const QuantizeArguments& arguments) {
  const Device device;
  const record::Specification specification = record::Specification::load(run.folder);
  if (arguments.bits != 4 && arguments.bits != 8)
    throw Error("--bits is " + std::to_string(arguments.bits) + "; it must be 8 or 4");
  const bool half = arguments.bits == 4;
  std::optional<Judges> judges;
  record::QuantizeAnswer answer;
  {
    infer::Engine engine(run.folder, run.plugin_folders, device, infer::Weights::copied);
    for (const std::string& note : engine.notes()) std::cerr << "encore-worker: " << note << '\n';
    judges.emplace(engine, specification, arguments);
    const infer::Quantization found =
        infer::quantize(engine, judges->cost(engine), {arguments.bits, arguments.tolerance, arguments.keep},
                        [](std::size_t done, std::size_t all) {
                          tell_progress({.what = "tried", .unit = "choices", .done = done, .all = all});
                        });
    const char* file = half ? record::int4_weights_file : record::int8_weights_file;
    const record::SavedFile saved = write_weights(engine, specification, run.folder, found, file);
    const memory::ParameterBlock& parameters = engine.model().parameters();
    answer = {.step = engine.step(),
              .judged_by = judges->judged_by(),
              .sample = judges->examples(),
              .tolerance = arguments.tolerance,
              .bits = arguments.bits,
              .cost = {.before = found.cost, .after = found.quantized_cost},
              .matrices = rounded(found),
              .adapted = found.adapted,
              .file = (run.folder / file).string(),
              .sha256 = saved.sha256,
              .bytes = saved.bytes,
              .float_bytes = static_cast<std::size_t>(parameters.count()) * size_of(parameters.dtype())};
  }
  infer::Engine engine(run.folder, run.plugin_folders, device,
                       half ? infer::Weights::int4 : infer::Weights::int8);
  answer.sets = judges->compare(engine);
  answer.definitions = engine.measures();
  answer.definitions.push_back(loss_measure());
  write_answer(to_json_object(answer));
  return 0;
}

}  // namespace encore::worker
