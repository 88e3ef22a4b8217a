// The contract suite: the rules for every layer, head, tokenizer, optimizer, schedule, task and reader of any
// author. Place in the flow: `exp plugin check FILE` starts a worker, which opens the plugin and
// runs every check on all its offers; tests/contract runs the same suite on the plugins that ship. Each check
// is announced before it runs, so that a crash can be named.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <encore/device.hpp>
#include <encore/plugin.hpp>

#include "contract/kokkos_watch.hpp"
#include "plugin_host/default_options.hpp"

namespace encore {

class Trial;  // trial.hpp

/// The result of one check.
struct Finding {
  std::string subject;  ///< layer "highway"
  std::string check;    ///< "gradients"
  bool passed = false;
  bool skipped = false;    ///< it fails as well, for the cause of an earlier check of the offer
  bool unchecked = false;  ///< it passed, but this machine or the plugin did not let it compare anything
  std::string detail;  ///< the comparison, the error and its place, the check with the cause, or the reason
};

/// Thrown by a check that cannot compare anything here: the reason, and a remedy.
class NotChecked : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// The receiver of results.
struct SuiteObserver {
  std::function<void(const std::string& subject, std::string_view check)> begin;
  std::function<void(const Finding&)> end;
};

/// One check: its name and its function, which returns a sentence about the comparison, or throws an
/// exception with the error.
struct Check {
  const char* name;
  std::function<std::string()> run;
};
struct CheckFile {
  std::string name, text;
};
/// Files of the author's own (`--data FILE`): readers are checked with them beside the suite's samples, and
/// tasks in place of the samples. All of them are one set.
struct CheckData {
  std::vector<CheckFile> files = {};
  std::vector<Offer> readers = {};  ///< the first that gives the fields of a task makes its records
  bool chosen = false;              ///< the user has named the only reader: -S data.type=NAME

  bool given() const { return !files.empty(); }
  /// Returns "a.tsv" or "a.src and a.trg", as messages name the set.
  std::string name() const {
    std::string all;
    for (const CheckFile& file : files) all += (all.empty() ? "" : " and ") + file.name;
    return all;
  }
};

/// A size at which layers and heads are checked again, beyond the small one of the other checks.
struct LargeSize {
  std::int64_t width = 0;   ///< C
  std::int64_t length = 0;  ///< rows of the longest sequence
  bool exact = false;       ///< false: the next valid width of the defaults, e.g. a multiple of the heads
};
/// Both beyond the vectors of any processor; the second beyond 128 channels and 100 rows too.
inline const std::vector<LargeSize> default_sizes = {{40, 70}, {136, 150}};

/// Every check for the offer's kind; device and offer must outlive the list.
std::vector<Check> suite_checks(const Device& device, const Offer& offer, const CheckData& data = {},
                                const std::vector<LargeSize>& sizes = default_sizes);

/// Runs the checks of an offer in their order. One cause is one failure: a later check that fails with the
/// same message is skipped.
void run_suite(const Offer& offer, const std::vector<Check>& checks, const SuiteObserver& observer);

/// Digests of all results of an offer on a large batch, by name. A comparison of those of processes
/// with 1, 2 and 3 threads shows whether threads change bits.
std::map<std::string, std::string> suite_digests(const Device& device, const Offer& offer);

/// Whether threads can change the results of an offer: layers, heads and optimizers have digests.
bool has_digests(const Offer& offer);

/// layer "highway"
std::string subject_of(const Offer& offer);

/// The defaults, then each option by itself: every other choice, the other value of a flag, a bounded number
/// in the middle of its range, an integer at its smallest. `name` describes the change ("heads = 1"). An
/// option that the user has given (settings.hpp) keeps its value.
struct OptionsVariant {
  std::string name;
  Options options;
  bool is_default = false;
};
std::vector<OptionsVariant> option_variants(const Schema& schema);

/// Hash of values, each as the bits of a double.
std::string digest_of(const std::vector<double>& values);

/// The check of options that every kind has.
std::string check_options(const Offer& offer);

/// By kind; the objects must outlive the list.
std::vector<Check> layer_checks(const Device& device, const Offer& offer,
                                const std::vector<LargeSize>& sizes);  ///< also of heads
/// The check of layers that take a sum, in each of these types.
std::string check_sum(const Device& device, const Offer& offer, const Options& options, std::int64_t width,
                      const std::vector<DType>& types);
/// The check of layers for generation (LayerPlan::row_wise, Lifetime::persistent), in each of
/// these types and with each of these options.
std::string check_generation(const Device& device, const Offer& offer,
                             const std::vector<OptionsVariant>& variants, std::int64_t width,
                             const std::vector<DType>& types);
/// The check of layers with attention weights (HasAttentionWeights), likewise.
std::string check_attention(const Device& device, const Offer& offer,
                            const std::vector<OptionsVariant>& variants, std::int64_t width,
                            const std::vector<DType>& types);
/// The check of layers and heads with an ONNX form (onnx_form.hpp), of heads with targets over each of these
/// spaces: with each variant at the first size, with the defaults at the others. Throws NotChecked if
/// onnxruntime is missing.
std::string check_onnx(const Device& device, const Offer& offer, const std::vector<OptionsVariant>& variants,
                       const std::vector<Space>& targets, const std::vector<LargeSize>& sizes);
/// Makes a layer or head with such options, for training or evaluation; may throw OptionError.
using MakeTrial = std::function<std::unique_ptr<Trial>(const Options& options, bool training)>;
/// The check of the names of parameters, and of those that a later block shares with the first.
std::string check_declaration(const Offer& offer, const std::vector<OptionsVariant>& variants,
                              std::int64_t width, const MakeTrial& make);
/// The check that evaluation computes the same as training, with each of these options, and with random draws
/// turned off if the schema has such options.
std::string check_evaluation(const std::vector<OptionsVariant>& variants, const Schema& schema,
                             const MakeTrial& make);
std::vector<Check> optimizer_checks(const Device& device, const Offer& offer);
/// Three of optimizer_checks: a new object continues where another ended; a step uses the rate that it
/// gets; a parameter has its own factor on the rate and its own decay.
std::string check_resuming(const Device& device, const Offer& offer);
std::string check_changing_rate(const Device& device, const Offer& offer);
std::string check_segments(const Device& device, const Offer& offer);
/// The check of a table in which most rows have no gradient; one of optimizer_checks.
std::string check_token_rows(const Device& device, const Offer& offer);
std::vector<Check> schedule_checks(const Offer& offer);
std::vector<Check> tokenizer_checks(const Offer& offer);
std::vector<Check> task_checks(const Offer& offer, const CheckData& data);
std::vector<Check> reader_checks(const Offer& offer, const CheckData& data);

/// The parts of suite_digests, by kind; kinds that run on the host only have none.
std::map<std::string, std::string> layer_digests(const Device& device, const Offer& offer);
std::map<std::string, std::string> optimizer_digests(const Device& device, const Offer& offer);

/// Throws Error with `message` unless `condition`, a requirement on the part, holds.
void require(bool condition, const std::string& message);

/// Throws Error unless a name that becomes part of paths consists of letters, digits, "_", "-" and ".";
/// `what` describes its owner, as in "a state".
void require_word(const std::string& name, const std::string& what);

/// Throws Error when a kernel's label is not of the form "namespace::name".
void require_labels(const KokkosWatch& watch);

}  // namespace encore
