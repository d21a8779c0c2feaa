#include "experiments/command_line/inspection_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <utility>

namespace heed {

namespace {

boost::json::value number_or_null(std::optional<double> value) {
  return value ? boost::json::value(*value) : boost::json::value();
}

} // namespace

bool is_localised(const HeadInspection& head) { return head.distance && *head.distance < localised_below; }

boost::json::object inspection_json(const Inspection& found) {
  boost::json::array heads, modules, layers;
  for (const HeadInspection& h : found.heads)
    heads.push_back(boost::json::object{{"attention", h.attention},
                                        {"head", h.head},
                                        {"entropy", h.entropy},
                                        {"distance", number_or_null(h.distance)},
                                        {"importance", number_or_null(h.importance)},
                                        {"first_key", number_or_null(h.first_key)},
                                        {"score_variance", number_or_null(h.score_variance)},
                                        {"localised", is_localised(h)}});
  for (const ModuleInspection& m : found.modules)
    modules.push_back(boost::json::object{{"module", m.module},
                                          {"activation", number_or_null(m.activation)},
                                          {"gradient", number_or_null(m.gradient)},
                                          {"weight", number_or_null(m.weight)}});
  for (const LayerInspection& l : found.layers)
    layers.push_back(boost::json::object{{"layer", l.layer},
                                         {"rank_residual", number_or_null(l.rank_residual)},
                                         {"gradient", number_or_null(l.gradient)},
                                         {"weight", number_or_null(l.weight)}});
  return {{"heads", std::move(heads)}, {"layers", std::move(layers)}, {"modules", std::move(modules)}};
}

} // namespace heed
