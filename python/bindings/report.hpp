// A report that Python objects share.
#pragma once

#include "experiments/report/report_data.hpp"

#include <memory>

namespace heed::python {

struct ReportOfData {
  std::shared_ptr<const ReportData> data;
};

} // namespace heed::python
