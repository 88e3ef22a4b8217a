// A bundle that the user has named: opened with a progress line, and what is said about it. bundle_verb.cpp
// and bundle_verify.cpp use it.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "archive/unpack_bundle.hpp"
#include "cli/terminal.hpp"
#include "store/store.hpp"

namespace encore {

inline constexpr const char* bundle_ending = ".tar.zst";

/// Unpacked and checked.
class OpenedBundle {
 public:
  /// Throws UsageError where there is no such file, Error as unpacking and checking do.
  explicit OpenedBundle(const std::string& archive);

  const UnpackedBundle& unpacked() const { return *unpacked_; }
  void keep() const { unpacked_->keep(); }
  /// Attempts whose rows nothing stands behind.
  const std::vector<std::string>& unproved() const { return unproved_; }

 private:
  std::unique_ptr<UnpackedBundle> unpacked_;
  std::vector<std::string> unproved_;
};

/// The plugins of the newest attempt that has told any.
std::vector<PluginRow> plugins_of(Store& store, const RunRow& run);
/// "run quickstart, 12 files, 1.2 MB"
std::string bundle_line(const BundleIndex& index);
/// The first lines about it: what it is, and what of it is not proved.
void print_bundle(std::ostream& out, const std::string& archive, const OpenedBundle& bundle);
/// Which commit was recorded, and whether this program is of it.
void print_code(std::ostream& out, Store& store, const std::vector<RunRow>& runs);

}  // namespace encore
