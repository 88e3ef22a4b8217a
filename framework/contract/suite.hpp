// The contract suite: what every layer, head, tokenizer, optimizer, schedule, task and reader must satisfy,
// whoever wrote it. Place in the flow: `exp plugin check FILE` starts a worker, which opens the plugin and
// runs every check on everything it offers; tests/contract runs the same suite on what ships. Each check is
// announced before it runs, so that a crash can be named.
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

/// One check that has ended.
struct Finding {
  std::string subject;  ///< layer "highway"
  std::string check;    ///< "gradients"
  bool passed = false;
  bool skipped = false;    ///< it fails as well, for the cause that an earlier check of the offer has named
  bool unchecked = false;  ///< it passed, but this machine or the plugin did not let it compare anything
  std::string
      detail;  ///< what was compared, what is wrong and where, which check names the cause, or why not
};

/// Thrown by a check that cannot compare anything here: the reason, and what would let it.
class NotChecked : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// Where the suite reports to.
struct SuiteObserver {
  std::function<void(const std::string& subject, std::string_view check)> begin;
  std::function<void(const Finding&)> end;
};

/// One check: its name, and what runs it. Returns a sentence about what was done; throws an exception with
/// what is wrong.
struct Check {
  const char* name;
  std::function<std::string()> run;
};
struct CheckFile {
  std::string name, text;
};
/// Files of the author's own (`--data FILE`), with which readers are checked beside the suite's samples, and
/// tasks in place of them. All of them are one set.
struct CheckData {
  std::vector<CheckFile> files = {};
  std::vector<Offer> readers = {};  ///< the first of them that gives what a task needs makes its records
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
  bool exact = false;       ///< false: the next width that the defaults take, e.g. a multiple of the heads
};
/// Both beyond the vectors of any processor; the second beyond 128 channels and 100 rows too.
inline const std::vector<LargeSize> default_sizes = {{40, 70}, {136, 150}};

/// Every check that applies to the offer's kind; device and offer outlive the list.
std::vector<Check> suite_checks(const Device& device, const Offer& offer, const CheckData& data = {},
                                const std::vector<LargeSize>& sizes = default_sizes);

/// Runs the checks of an offer in their order. One cause is one failure: a later check that fails with the
/// same words is skipped.
void run_suite(const Offer& offer, const std::vector<Check>& checks, const SuiteObserver& observer);

/// Digests of everything an offer computes on a large batch, by name. Whoever compares those of processes
/// with 1, 2 and 3 threads knows whether threads change bits.
std::map<std::string, std::string> suite_digests(const Device& device, const Offer& offer);

/// Whether threads can change what an offer computes: layers, heads and optimizers have digests.
bool has_digests(const Offer& offer);

/// layer "highway"
std::string subject_of(const Offer& offer);

/// The defaults, then each option by itself: every other choice, a flag turned, a bounded number in the
/// middle of its range, an integer at its smallest. `name` tells the change ("heads = 1").
struct OptionsVariant {
  std::string name;
  Options options;
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
/// The check of layers with which a model generates (LayerPlan::row_wise, Lifetime::persistent), in each of
/// these types and with each of these options.
std::string check_generation(const Device& device, const Offer& offer,
                             const std::vector<OptionsVariant>& variants, std::int64_t width,
                             const std::vector<DType>& types);
/// The check of layers whose attention weights can be looked at (HasAttentionWeights), likewise.
std::string check_attention(const Device& device, const Offer& offer,
                            const std::vector<OptionsVariant>& variants, std::int64_t width,
                            const std::vector<DType>& types);
/// The check of layers and heads with an ONNX form (onnx_form.hpp), of heads with targets over each of these
/// spaces: with each variant at the first size, with the defaults at the others. Throws NotChecked where
/// onnxruntime is missing.
std::string check_onnx(const Device& device, const Offer& offer, const std::vector<OptionsVariant>& variants,
                       const std::vector<Space>& targets, const std::vector<LargeSize>& sizes);
/// Makes a layer or head with such options, to be tried in training or in evaluation; may throw OptionError.
using MakeTrial = std::function<std::unique_ptr<Trial>(const Options& options, bool training)>;
/// The check of the names of parameters, and of those that a later block shares with the first.
std::string check_declaration(const Offer& offer, const std::vector<OptionsVariant>& variants,
                              std::int64_t width, const MakeTrial& make);
/// The check that evaluation computes what training does, with each of these options, and with what is drawn
/// turned off where the schema has such options.
std::string check_evaluation(const std::vector<OptionsVariant>& variants, const Schema& schema,
                             const MakeTrial& make);
std::vector<Check> optimizer_checks(const Device& device, const Offer& offer);
/// Three of optimizer_checks: a new object goes on where another has arrived; a step has the rate that it
/// gets; a parameter has its own factor on the rate and its own decay.
std::string check_resuming(const Device& device, const Offer& offer);
std::string check_changing_rate(const Device& device, const Offer& offer);
std::string check_segments(const Device& device, const Offer& offer);
/// Of a table in which most rows have no gradient; one of optimizer_checks.
std::string check_token_rows(const Device& device, const Offer& offer);
std::vector<Check> schedule_checks(const Offer& offer);
std::vector<Check> tokenizer_checks(const Offer& offer);
std::vector<Check> task_checks(const Offer& offer, const CheckData& data);
std::vector<Check> reader_checks(const Offer& offer, const CheckData& data);

/// What suite_digests is made of, by kind; kinds that run on the host only have none.
std::map<std::string, std::string> layer_digests(const Device& device, const Offer& offer);
std::map<std::string, std::string> optimizer_digests(const Device& device, const Offer& offer);

/// Throws Error with `message` unless `condition` holds: what a check expects of the part.
void require(bool condition, const std::string& message);

/// Throws Error unless a name that becomes part of paths consists of letters, digits, "_", "-" and ".";
/// `what` has it, as in "a state".
void require_word(const std::string& name, const std::string& what);

/// Throws Error when a kernel's label is not of the form "namespace::name".
void require_labels(const KokkosWatch& watch);

}  // namespace encore
