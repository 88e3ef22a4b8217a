// Evaluator: batches by length, decode on the device, classes back to the sequences they belong to.
#include "train/evaluator.hpp"

#include <algorithm>

namespace encore {

Evaluator::Evaluator(Model& model, const BatchSize& largest, std::int64_t batch_size)
    : model_(model),
      batch_size_(batch_size),
      batch_(model.device(), largest),
      predictions_("encore::predictions", static_cast<std::size_t>(largest.tokens) * sizeof(std::int32_t)) {}

Evaluation Evaluator::run(const EncodedSet& set) {
  Evaluation result;
  result.outputs.classes.resize(set.set.all_ids().size());
  double loss = 0.0;
  std::int64_t targets = 0;
  for (const std::vector<std::int32_t>& members : plan_evaluation(set.set.lengths(), batch_size_)) {
    pack(set.examples, members, Packing{}, packed_);
    batch_.upload(packed_);
    const Tensor predictions(predictions_.data(), DType::int32, {packed_.size().tokens});
    loss += model_.read(model_.evaluate(batch_, predictions));
    targets += packed_.target_count;
    classes_.resize(packed_.ids.size());
    copy_to_host(model_.device(), predictions, classes_.data());
    for (std::size_t b = 0; b < members.size(); ++b)
      std::copy(classes_.begin() + packed_.offsets[b], classes_.begin() + packed_.offsets[b + 1],
                result.outputs.classes.begin() +
                    static_cast<std::ptrdiff_t>(set.set.first_row(static_cast<std::size_t>(members[b]))));
  }
  result.loss = targets > 0 ? loss / static_cast<double>(targets) : 0.0;
  return result;
}

}  // namespace encore
