#include "experiments/metrics/task_scale.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/text.hpp"

#include <cmath>
#include <fmt/format.h>

namespace heed {

namespace {

constexpr std::size_t fewest_alike = 6; // signs of fewer tasks cannot reach 5 %

} // namespace

std::vector<double> units_of_scale(const std::string& scale, const std::string& given) {
  if (scale == "metric" || scale == "chance to best") return {};
  std::vector<double> out;
  for (const std::string& part : parts_of(scale, ',')) {
    const std::size_t first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
    const auto number = number_of<double>(first == std::string::npos ? "" : part.substr(first, last + 1 - first));
    if (!number || !(*number > 0) || !std::isfinite(*number))
      throw Refused(fmt::format("{} is \"{}\"; it must be \"metric\", \"chance to best\", or a number above 0 for each "
                                "task, such as \"0.2, 1.5, 3\"{}",
                                given, scale, did_you_mean(scale, {"metric", "chance to best"})));
    out.push_back(*number);
  }
  return out;
}

void require_over_tasks(const OverTasksQuestion& question, const Metric& metric) {
  const std::vector<double> units = units_of_scale(question.scale, question.given_scale);
  if (question.over == "none") {
    if (question.scale != "metric")
      throw Refused(fmt::format("{} does nothing without {}; set it to \"these tasks\", or leave the scale out",
                                question.given_scale, question.given_over));
    return;
  }
  if (question.tasks < 2)
    throw Refused(
        fmt::format("{}: one answer over tasks takes two tasks or more, and there is one group; {} makes them",
                    question.given_over, question.groups));
  if (question.over == "tasks like these" && question.tasks < fewest_alike)
    throw Refused(
        fmt::format("{}: an answer for tasks like these flips signs by task, and takes {} tasks or more; there "
                    "are {}. Add tasks, or ask for \"these tasks\"",
                    question.given_over, fewest_alike, question.tasks));
  if (question.unpaired)
    throw Refused(
        fmt::format("{}: an answer over tasks compares runs of the same seed, and this comparison is unpaired; "
                    "compare in pairs, or leave it out",
                    question.given_over));
  if (steps_to(metric.name))
    throw Refused(
        fmt::format("{}: {} has runs that never reach the target, whose steps can't be averaged over tasks; take "
                    "another metric, or leave it out",
                    question.given_over, metric.name));
  if (question.scale == "chance to best" && !metric.best())
    throw Refused(fmt::format("{}: {} has no best possible value; take \"metric\", or a number for each task",
                              question.given_scale, metric.name));
  if (!units.empty() && units.size() != question.tasks)
    throw Refused(fmt::format("{} has {}, and there are {} tasks; give a number for each, in the order in which the "
                              "report lists them",
                              question.given_scale, counted(units.size(), "number"), question.tasks));
  if (question.not_worse && question.scale != "metric")
    throw Refused(
        fmt::format("{}: whether an arm is not worse is asked with a margin in the metric's unit; take \"metric\", "
                    "or ask for \"same\"",
                    question.given_scale));
}

} // namespace heed
