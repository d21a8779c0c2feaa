// Tests of [sweep] vary: which runs measure where variance comes from.
#include "experiments/config/config.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/sweep/variation.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

using namespace heed;
using Catch::Contains;

namespace {

Plan varied(const std::string& sweep, const std::string& more = "") { return plan_of(more + "[sweep]\n" + sweep); }

std::set<std::string> ids_of(const std::vector<PlannedRun>& runs) {
  std::set<std::string> out;
  for (const PlannedRun& run : runs) out.insert(run.id);
  return out;
}

// The configuration of a run of the plan.
Config config_with(const Plan& plan, const std::string& id) {
  for (const PlannedRun& run : final_runs(plan))
    if (run.id == id) return config_of(run);
  throw Failed("no run " + id);
}

std::string vary_refusal(const std::string& sweep, const std::string& more = "") {
  try {
    varied(sweep, more);
    return "";
  } catch (const Refused& error) {
    return error.what();
  }
}

} // namespace

TEST_CASE("one source varies in each fixing of the others", "[sweep][vary]") {
  const Plan plan = varied("seeds = [4, 7]\nvary = [\"init\", \"order\"]\nvary_values = 3\nvary_fixings = 3");
  const Variation& variation = plan.variation.value();
  CHECK(variation.sources == std::vector<std::string>{"init", "order"});
  REQUIRE(variation.fixings.size() == 3);
  CHECK(plan.runs.size() == 2);
  CHECK(variation.runs.size() == 1 + 3 * 2 * 2); // two fixings are replicates; a third and the further values
  CHECK(ids_of(final_runs(plan)).size() == count_final_runs(plan));
  std::set<std::uint64_t> inits, orders;
  for (std::size_t f = 0; f < 3; ++f) {
    const Variation::Fixing& fixing = variation.fixings[f];
    const Config base = config_with(plan, fixing.base);
    const std::int64_t seeds[] = {4, 7, 0};
    CHECK(base.general.seed == seeds[f]);
    inits.insert(base.init_seed());
    orders.insert(base.order_seed());
    REQUIRE(fixing.varied.size() == 2);
    for (const std::string& id : fixing.varied[0]) {
      const Config config = config_with(plan, id);
      CHECK(config.order_seed() == base.order_seed());
      CHECK(config.dropout_seed() == base.dropout_seed());
      CHECK(config.split_seed() == base.split_seed());
      inits.insert(config.init_seed());
    }
    for (const std::string& id : fixing.varied[1]) {
      const Config config = config_with(plan, id);
      CHECK(config.init_seed() == base.init_seed());
      orders.insert(config.order_seed());
    }
  }
  CHECK(variation.fixings[0].base == plan.runs[0].id);
  CHECK(variation.fixings[1].base == plan.runs[1].id);
  CHECK(inits.size() == 9); // no value occurs twice, so fixings are independent
  CHECK(orders.size() == 9);
  CHECK(variation.labels.front() == "fixing 1, init 10001");
  CHECK(VariationLabels(plan).before(variation.runs.front()) == "fixing 1, init 10001: ");
  CHECK(VariationLabels(plan).before(plan.runs.front()).empty());
}

TEST_CASE("the split has a value of its own in each fixing, and so has a source with a seed of its own",
          "[sweep][vary]") {
  const Plan plan = varied("vary = [\"split\", \"init\"]\nvary_values = 2\nvary_fixings = 2",
                           "[task]\nseed = 5\n[init]\nseed = 3\n");
  std::set<std::uint64_t> splits, inits;
  for (const Variation::Fixing& fixing : plan.variation->fixings)
    for (const std::string& id : {fixing.base, fixing.varied[0][0], fixing.varied[1][0]}) {
      splits.insert(config_with(plan, id).split_seed());
      inits.insert(config_with(plan, id).init_seed());
    }
  CHECK(splits == std::set<std::uint64_t>{5, 10'001, 20'000, 20'001});
  CHECK(inits == std::set<std::uint64_t>{3, 10'001, 20'000, 20'001});
  // a source that does not vary stays as the file has it
  const Plan only_init = varied("vary = [\"init\"]\nvary_values = 2\nvary_fixings = 2");
  for (const PlannedRun& run : final_runs(only_init)) CHECK(config_of(run).split_seed() == 0);
}

TEST_CASE("more values, fixings, sources and seeds repeat no run", "[sweep][vary]") {
  const auto runs = [](const std::string& sweep) { return ids_of(final_runs(varied(sweep))); };
  const auto few = runs("seeds = 1\nvary = [\"init\"]\nvary_values = 3\nvary_fixings = 2");
  for (const char* more : {"seeds = 5\nvary = [\"init\"]\nvary_values = 3\nvary_fixings = 2",
                           "seeds = 1\nvary = [\"init\"]\nvary_values = 5\nvary_fixings = 2",
                           "seeds = 1\nvary = [\"init\"]\nvary_values = 3\nvary_fixings = 4",
                           "seeds = 1\nvary = [\"init\", \"split\"]\nvary_values = 3\nvary_fixings = 1"}) {
    INFO(more);
    const auto many = runs(more);
    const bool other_fixing = std::string(more).find("split") != std::string::npos;
    CHECK(std::ranges::count_if(few, [&](const std::string& id) { return many.contains(id); }) ==
          (other_fixing ? 3 : 6));
  }
}

TEST_CASE("the defaults are six values in three fixings, beside a grid or alone", "[sweep][vary]") {
  const Plan alone = varied("vary = [\"order\"]");
  CHECK(alone.arms.size() == 1);
  CHECK(alone.variation->values == 6);
  CHECK(alone.variation->fixings.size() == 3);
  CHECK(count_final_runs(alone) == 3 * 6);
  const Plan beside = varied("seeds = 3\nvary = [\"order\"]\n[[sweep.block]]\ngrid = { \"attention.score\" = "
                             "[\"additive\"] }");
  CHECK(beside.arms.size() == 2);
  CHECK(beside.variation->runs.size() == 3 * 5);
  for (const PlannedRun& run : beside.variation->runs) CHECK(config_of(run).layers[0].attention.score == "scaled_dot");
  CHECK_FALSE(varied("vary = []").variation);
  CHECK_FALSE(varied("seeds = 3").variation);
}

TEST_CASE("a plan's variation is in its file, its hash and its runs", "[sweep][vary]") {
  const std::string sweep = "seeds = 2\nvary = [\"init\"]\nvary_values = 3\nvary_fixings = 2";
  const Plan plan = varied(sweep);
  const auto read = plan_from_json(to_json(plan));
  REQUIRE(read);
  CHECK(to_json(*read) == to_json(plan));
  CHECK(read->variation->fixings == plan.variation->fixings);
  CHECK(plan.hash != varied("seeds = 2").hash);
  CHECK(plan.hash != varied("seeds = 2\nvary = [\"init\"]\nvary_values = 4\nvary_fixings = 2").hash);
  CHECK(run_ids(plan).size() == 6);
  std::size_t met = 0;
  each_run(plan, [&](const PlannedRun&, const Trial* trial) {
    CHECK_FALSE(trial);
    ++met;
  });
  CHECK(met == 6);
  // a run that was edited, exchanged or removed
  const std::string json = to_json(plan), id = plan.variation->fixings[0].varied[0][0];
  for (const auto& [what, by] : {std::pair<std::string, std::string>{"seed = 10001", "seed = 10009"},
                                 {"\"base\": \"" + plan.runs[0].id, "\"base\": \"" + plan.runs[1].id},
                                 {"fixing 1, init 10001", "fixing 9, init 10001"},
                                 {"\"values\": 3", "\"values\": 4"}}) {
    std::string edited = json;
    const std::size_t at = edited.find(what);
    INFO(what);
    REQUIRE(at != std::string::npos);
    edited.replace(at, what.size(), by);
    CHECK_FALSE(plan_from_json(edited));
  }
}

TEST_CASE("what vary cannot measure is refused, with the place and what to do", "[sweep][vary]") {
  CHECK_THAT(vary_refusal("vary = [\"dropout\"]"),
             Contains("test.toml:2:8: train.dropout_seed does nothing: model.dropout is 0.0") &&
                 Contains("sweep.vary names \"dropout\"") && Contains("remove it from the list"));
  CHECK(vary_refusal("vary = [\"dropout\"]", "[model]\ndropout = 0.1\n").empty());
  CHECK_THAT(vary_refusal("vary = [\"initial\"]"),
             Contains("sweep.vary holds the text 'initial'; its entries are") && Contains("split"));
  CHECK_THAT(vary_refusal("vary = \"init\""), Contains("sweep.vary is") && Contains("vary = [\"init\", \"order\"]"));
  CHECK_THAT(vary_refusal("vary = [\"init\", \"init\"]"), Contains("sweep.vary names init twice"));
  CHECK_THAT(vary_refusal("vary = [\"init\"]\nvary_values = 1"),
             Contains("sweep.vary_values is") && Contains("from 2 to 1000"));
  CHECK_THAT(vary_refusal("vary = [\"init\"]\nvary_fixings = 2.5"), Contains("sweep.vary_fixings is"));
  CHECK_THAT(vary_refusal("seeds = 2\nvary_fixings = 2"), Contains("test.toml:3:16: sweep.vary_fixings does nothing"));
  CHECK_THAT(vary_refusal("vary = [\"init\", \"order\"]\nvary_values = 1000\nvary_fixings = 100"),
             Contains("sweep.vary asks for 199800 further runs; 10000 are the most"));
  CHECK_THAT(
      vary_refusal("vary = [\"init\"]\n[sweep.tune]\nseeds = [100]\ngrid = { \"train.learning_rate\" = [1e-3, 1e-2] }"),
      Contains("[sweep.tune] chooses later"));
}
