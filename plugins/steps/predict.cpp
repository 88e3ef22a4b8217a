// SPDX-License-Identifier: BSD-3-Clause
// The step "predict": passes records to the model and returns the fields of its answer, without those that
// the model reads, and with `vectors` also the vector of the first text field that the model reads. The
// worker calls it through AppStep (encore/step.hpp). The step has no measures, because the run of the model
// has its own. Names of options and fields must stay. Read predict.hpp first.
#include "predict.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <encore/error.hpp>

namespace encore::predict {

Schema Predict::options() {
  Schema schema;
  schema.boolean(
      "vectors", false,
      {.help = "also give the vector of each text, which a step `decide` uses to find requests out of "
               "scope, that is, requests that belong to no class"});
  return schema;
}

Predict::Predict(const Options& options, const StepContext& context)
    : name_(context.name), model_(context.model), gives_vectors_(options.flag("vectors")) {
  if (model_ == nullptr || !gives_vectors_) return;  // null: the experiment file is only checked
  if (const std::string problem = model_->no_vectors(); !problem.empty())
    throw OptionError("vectors", "the model of step \"" + name_ + "\" gives no vectors: " + problem +
                                     "; set vectors = false or take a model that has them");
}

StepFields Predict::fields() const {
  if (model_ == nullptr) return {};
  return {.reads = model_->fields().structure, .truth = {}};
}

const Records::Texts& Predict::texts_in(const Records& records) const {
  for (const std::string& name : model_->fields().structure)
    for (const Records::Field& field : records.fields())
      if (field.name == name)
        if (const auto* texts = std::get_if<Records::Texts>(&field.values)) return *texts;
  throw Error("step \"" + name_ +
              "\" cannot give vectors: expected a model that reads a field of text; set vectors = false");
}

Records Predict::apply(const Records& records) {
  ENCORE_REQUIRE(model_ != nullptr, "a step that answers has a model");
  Records answers = model_->answer(records), given;
  const TaskFields& read = model_->fields();
  const auto is_input = [&](const std::string& name) {
    return std::ranges::find(read.structure, name) != read.structure.end() ||
           std::ranges::find(read.optional, name) != read.optional.end();
  };
  for (const Records::Field& field : answers.fields())
    if (!is_input(field.name)) given.add(field.name, field.values);
  given.notes = std::move(answers.notes);
  if (gives_vectors_) given.add(vector_field, model_->vectors(texts_in(records)));
  return given;
}

}  // namespace encore::predict
