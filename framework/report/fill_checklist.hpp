// SPDX-License-Identifier: BSD-3-Clause
// fill_checklist(): a checklist from the data of a report. report.cpp calls it in make_checklist();
// checklist.cpp implements it. Other folders use checklist.hpp.
#pragma once

#include "report/checklist.hpp"
#include "report/report_data.hpp"

namespace encore::report {

/// Throws Error, with the nearest name, if there is no checklist of this name.
void require_checklist(const std::string& name);
Checklist fill_checklist(const ReportData& data, const std::string& name);

}  // namespace encore::report
