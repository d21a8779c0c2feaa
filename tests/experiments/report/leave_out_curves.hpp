// What a page leaves out of a report's document, since its pictures and the texts of its figures have it.
#pragma once

#include <boost/json.hpp>

namespace heed::test {

inline void leave_out_curves(boost::json::value& document) {
  for (boost::json::value& figure : document.at("figures").as_array())
    for (boost::json::value& series : figure.at("series").as_array())
      for (const char* name : {"low", "high", "standard_deviation", "runs"}) series.as_object().erase(name);
  for (boost::json::value& arm : document.at("arms").as_array()) {
    for (const char* name : {"curve", "training_curve", "validation_curve"}) arm.as_object().erase(name);
    for (boost::json::value& run : arm.at("runs").as_array()) run.as_object().erase("curve");
  }
}

} // namespace heed::test
