// SPDX-License-Identifier: BSD-3-Clause
// Describes everything beside the specification that may change the bits of a run (the numeric environment),
// and where it ran (host, build). started_event.cpp and the verb version write it; store/, `exp verify` and
// report/ read it. Fields keep their names, because databases contain them.
#pragma once

#include <span>
#include <string>

#include <encore/layer.hpp>
#include <nlohmann/json_fwd.hpp>

#include "plugin_host/registry.hpp"

namespace encore::worker {

/// Returns backend, device (CPU or GPU model), instruction_set, precision, compiler, the versions of Kokkos
/// and of the library for matrix products, and the SHA-256 of the files that compute: kernels
/// (libencore_kernels.so), worker (which contains model, memory and inference), libkokkoscore, libm, libgomp,
/// libencore_index and libsqlite3 if a plugin loaded them, and each plugin. If two environments are equal,
/// equal runs give equal bits. Kokkos must be initialized. Records of older versions lack worker and lib...,
/// and so differ from new ones.
nlohmann::json numeric_environment(const Device& device, const std::string& precision,
                                   std::span<const plugin_host::LoadedPlugin> plugins);

/// Returns host name, kernel, CPU model and count, memory.
nlohmann::json host_description();

/// Returns which matrix products use the tiles of AMX here: {"bfloat16": false, "bytes": false, "reason":
/// "..."}. The reason is empty if tiles are used or the processor has none.
nlohmann::json tiles_description();

/// Returns how this program was built: compiler, relevant flags, backend, Encore's version and, if the build
/// recorded it, its source. The record of the source lies beside the programs (record/source_record.hpp). It
/// is valid only if this program, the kernels' library and those of `plugins` that belong to the build are
/// the files for which it was written; otherwise "source_problem" has the name of one that is not.
nlohmann::json build_description(std::span<const plugin_host::LoadedPlugin> plugins = {});

/// Returns a sentence for the log: "up to 2 threads, as OMP_PLACES={0},{1} says". Without "up to", the number
/// is fixed (record/thread_adaptation.hpp).
std::string pinning_of(int threads);

/// Returns name, version, sha256, fingerprint and file of each plugin.
nlohmann::json describe_plugins(std::span<const plugin_host::LoadedPlugin> plugins);

}  // namespace encore::worker
