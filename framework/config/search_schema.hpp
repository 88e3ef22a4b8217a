// SPDX-License-Identifier: BSD-3-Clause
// The schemas of [sweep] and [search], which decide the points of a space that are trained. No run has these
// tables: plan/ reads them and makes runs. A default never changes, because stored searches depend on it.
// Read next: plan/sweep.hpp, plan/search/search.hpp.
#pragma once

#include <encore/options.hpp>

namespace encore::config {

const Schema& sweep_schema();   ///< [sweep], without its tables
const Schema& search_schema();  ///< [search], without its tables

}  // namespace encore::config
