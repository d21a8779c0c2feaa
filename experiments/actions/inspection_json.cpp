#include "experiments/actions/inspection_json.hpp"

#include <boost/describe/class.hpp>
#include <boost/json.hpp>
#include <utility>

namespace heed {

// The fields that boost::json::value_from writes, in this order.
BOOST_DESCRIBE_STRUCT(HeadInspection, (),
                      (attention, head, entropy, distance, importance, first_key, score_variance, half_life, state_norm,
                       state_rank))
BOOST_DESCRIBE_STRUCT(ModuleInspection, (), (module, activation, gradient, weight))
BOOST_DESCRIBE_STRUCT(LayerInspection, (), (layer, rank_residual, gradient, weight))

bool is_localised(const HeadInspection& head) { return head.distance && *head.distance < localised_below; }

boost::json::object inspection_json(const Inspection& found) {
  boost::json::array heads;
  for (const HeadInspection& head : found.heads) {
    boost::json::object fields = boost::json::value_from(head).as_object();
    fields["localised"] = is_localised(head);
    heads.push_back(std::move(fields));
  }
  return {{"heads", std::move(heads)},
          {"layers", boost::json::value_from(found.layers)},
          {"modules", boost::json::value_from(found.modules)}};
}

} // namespace heed
