// Evaluator: batches by length, decode on the device, classes back to the examples they belong to.
#include "train/evaluator.hpp"

namespace encore {

Evaluator::Evaluator(Model& model, const BatchSize& largest, std::int64_t batch_size)
    : model_(model),
      batch_size_(batch_size),
      batch_(model.device(), largest),
      predictions_("encore::predictions", static_cast<std::size_t>(largest.tokens) * sizeof(std::int32_t)) {}

Evaluation Evaluator::run(std::span<const Example> examples) {
  std::vector<std::int32_t> lengths;
  lengths.reserve(examples.size());
  for (const Example& example : examples) lengths.push_back(static_cast<std::int32_t>(example.ids.size()));

  Evaluation result;
  result.predictions.resize(examples.size());
  double loss = 0.0;
  std::int64_t targets = 0;
  for (const std::vector<std::int32_t>& members : plan_evaluation(lengths, batch_size_)) {
    pack(examples, members, Packing{}, packed_);
    batch_.upload(packed_);
    const Tensor predictions(predictions_.data(), DType::int32, {packed_.size().tokens});
    loss += model_.read(model_.evaluate(batch_, predictions));
    targets += packed_.target_count;
    classes_.resize(packed_.ids.size());
    copy_to_host(model_.device(), predictions, classes_.data());
    for (std::size_t b = 0; b < members.size(); ++b) {
      const Example& example = examples[static_cast<std::size_t>(members[b])];
      std::vector<std::int32_t>& classes = result.predictions[static_cast<std::size_t>(members[b])];
      for (std::int32_t row : example.first_pieces)
        classes.push_back(classes_[static_cast<std::size_t>(packed_.offsets[b] + row)]);
    }
  }
  result.loss = targets > 0 ? loss / static_cast<double>(targets) : 0.0;
  return result;
}

}  // namespace encore
