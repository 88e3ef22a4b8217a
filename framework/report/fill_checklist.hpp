// SPDX-License-Identifier: BSD-3-Clause
// A checklist from the data of a report: what report.cpp calls.
#pragma once

#include "report/checklist.hpp"
#include "report/report_data.hpp"

namespace encore {

/// Throws Error that names the nearest list.
void require_checklist(const std::string& name);
Checklist fill_checklist(const ReportData& data, const std::string& name);

}  // namespace encore
