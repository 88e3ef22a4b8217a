// SPDX-License-Identifier: BSD-3-Clause
// digest_blocks() returns the SHA-256 of parameters and optimizer states, the fingerprints by which two runs
// are compared bit for bit. The Trainer and PretrainedRun report them. Which bytes are hashed never changes,
// because recorded digests would no longer be comparable.
#pragma once

#include <vector>

#include "distributed/communicator.hpp"
#include "model/model.hpp"
#include "record/events.hpp"

namespace encore::train {

/// Returns the digests of the block "parameters", then of "optimizer/<state>" for each state: over the bytes
/// of all parameters in path order, little endian, without the gaps between them. `with_tensors` adds the
/// digest of each parameter. All ranks must call it; only rank 0 gets the digests of the states. Waits for
/// the device.
std::vector<record::Digested> digest_blocks(const model::Model& model, std::int64_t step, bool with_tensors,
                                            distributed::Communicator& ranks);

}  // namespace encore::train
