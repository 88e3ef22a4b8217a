// SPDX-License-Identifier: BSD-3-Clause
// Describes what the bits of a run depend on beside its specification (the numeric environment), and where it
// ran (host, build). The worker's `started` event and `version` verb pass it to store, verify and report.
#pragma once

#include <span>
#include <string>

#include <encore/layer.hpp>
#include <nlohmann/json_fwd.hpp>

#include "plugin_host/registry.hpp"

namespace encore {

/// Returns backend, device (CPU or GPU model), instruction_set, precision, compiler, the versions of Kokkos
/// and the gemm library, and the SHA-256 of the files that compute: kernels (libencore_kernels.so), worker
/// (in which model, memory and inference are linked), libkokkoscore, libm, libgomp, and each of the plugins.
/// Equal values promise equal bits. Kokkos must be initialised. Records of older versions lack worker and
/// lib..., and so differ from new ones.
nlohmann::json numeric_environment(const Device& device, const std::string& precision,
                                   std::span<const LoadedPlugin> plugins);

/// Returns host name, kernel, CPU model and count, memory.
nlohmann::json host_description();

/// Returns which matrix products the tiles of AMX compute here: {"bfloat16": false, "bytes": false, "reason":
/// "..."}; the reason is empty if they are used, and if the processor has none.
nlohmann::json tiles_description();

/// Returns how this program was built: compiler, relevant flags, backend, Encore's version and, if the build
/// recorded it, its source. The record stands beside the programs (record/source_record.hpp); it counts only
/// if this program, the kernels' library and those of `plugins` that belong to the build are the files for
/// which it was written. Otherwise "source_problem" names one that is not.
nlohmann::json build_description(std::span<const LoadedPlugin> plugins = {});

/// Returns "up to 2 threads, as OMP_PLACES={0},{1} says", for the log. Without "up to" the number is fixed
/// (record/thread_adaptation.hpp).
std::string pinning_of(int threads);

/// Returns name, version, sha256, fingerprint and file of each.
nlohmann::json describe_plugins(std::span<const LoadedPlugin> plugins);

}  // namespace encore
