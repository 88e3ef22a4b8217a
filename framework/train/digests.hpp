// Digests: SHA-256 of parameters and optimizer states, the fingerprints by which two runs are compared bit
// for bit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace encore {

/// {"parameters", hex}, then {"optimizer/<state>", hex} of each state: over the bytes of all parameters in
/// path order, little endian, without the gaps between them. Waits for the device.
std::vector<std::pair<std::string, std::string>> digest_blocks(const Model& model);

}  // namespace encore
