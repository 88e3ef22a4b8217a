// SPDX-License-Identifier: BSD-3-Clause
// make_targets() of the program "fuzz" (tests/fuzz/CMakeLists.txt): all targets except that of fuzz_verbs,
// which is in verbs_target.cpp. A new target is declared in target.hpp, listed here, and named in
// CMakeLists.txt.
#include "fuzz/target.hpp"

namespace encore::fuzz {

std::vector<std::unique_ptr<Target>> make_targets() {
  std::vector<std::unique_ptr<Target>> targets;
  for (const auto make :
       {make_toml_target, make_conll_target, make_squad_target, make_spool_target, make_manifest_target,
        make_safetensors_target, make_sentencepiece_target, make_bundle_target, make_database_target,
        make_pretrained_target, make_tokenizer_target, make_http_target, make_frames_target, make_onnx_target,
        make_site_target, make_records_target})
    targets.push_back(make());
  return targets;
}

}  // namespace encore::fuzz
