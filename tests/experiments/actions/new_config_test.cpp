// Tests of the text of new configurations: every registered task has one, and it resolves.
#include "experiments/actions/new_config.hpp"
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/metrics/catalogue.hpp"
#include "experiments/tasks/task_info.hpp"
#include "tests/catch.hpp"

using namespace heed;

TEST_CASE("each registered task has a new config that resolves, with its own metric", "[new_config]") {
  for (const TaskInfo* task : task_kinds()) {
    INFO(task->about.name);
    const Settings settings = Settings::parse(new_config_text({task->about.name, {}, "a.toml"}).text, "a.toml");
    const Config config = settings.resolve();
    CHECK(config.task.kind == task->about.name);
    CHECK(settings.dropped().empty());
    CHECK(settings.sweep().seeds.size() == 6);
    CHECK(settings.sweep().blocks.size() == 2);
    const auto metric = metric_named(config, config.report.metric);
    REQUIRE(metric);
    CHECK(metric->is_goal());
    CHECK(config.report.margin.number > 0);
    for (const Option& option : task->about.options) CHECK(config.task_options.at(option.name) == option.default_value);
  }
}

TEST_CASE("each kind of new config resolves, and other words are refused", "[new_config]") {
  for (const std::string& kind : new_config_kinds())
    CHECK_NOTHROW(Settings::parse(new_config_text({kind, {}, "a.toml"}).text, "a.toml").resolve());
  CHECK_THROWS_AS(new_config_text({"nothing", {}, "a.toml"}), Refused);
  CHECK_THROWS_AS(new_config_text({"", {}, "a.toml"}), Refused);
}
