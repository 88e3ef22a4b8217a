// SPDX-License-Identifier: BSD-3-Clause
// architecture_of(): the architecture of a run's model, drawn from its settings and from the parameters that
// its worker counted. Place in the flow: method.cpp asks for it -> FlowChart (document/). Pure function.
#pragma once

#include <optional>

#include "document/chart.hpp"
#include "report/report_data.hpp"

namespace encore::report {

/// Returns the chart; nothing if the run has no model settings of the kind that is drawn (a list of
/// sub-layers).
std::optional<document::FlowChart> architecture_of(const ReportData& data, const store::RunRow& run);

}  // namespace encore::report
