// The report of a sweep, with what it shows and its runs lack: attention weights and scores of examples.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>

namespace heed {

/// The report of a sweep's folder. The scores of examples are refreshed first, and the attention weights that it shows,
/// if `shows_attention`.
ReportData report_of_sweep(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                           bool shows_attention);
/// The same, with tasks that exist already.
ReportData report_of_sweep(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                           bool shows_attention, Tasks& tasks);

} // namespace heed
