// The architecture of a run's model, drawn from its settings and from the parameters its worker counted.
// Pure.
#pragma once

#include <optional>

#include "document/chart.hpp"
#include "report/report_data.hpp"

namespace encore {

/// Empty if the run has no model settings of the kind that is drawn (a list of sub-layers).
std::optional<FlowChart> architecture_of(const ReportData& data, const RunRow& run);

}  // namespace encore
