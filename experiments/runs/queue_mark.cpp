#include "experiments/runs/queue_mark.hpp"

#include "experiments/data/json_fields.hpp"
#include "experiments/runs/names.hpp"
#include "experiments/system/bounds.hpp"

#include <fmt/format.h>

namespace heed {

using namespace json_fields;

std::optional<QueueMark> read_queue_mark(const RunFolder& run) {
  const auto bytes = run.queued().read(largest_state);
  require_readable(bytes);
  if (!bytes) return std::nullopt;
  try {
    const json::value value = parsed(*bytes);
    const json::object& object = as_object(value, "it");
    QueueMark mark{text(object, "submission"), integer(object, "task"), integer(object, "begun"), text(object, "ended"),
                   text(object, "details")};
    // The name becomes the name of a folder and an argument of squeue.
    if (!is_submission_name(mark.submission) || mark.task < 0) return std::nullopt;
    return mark;
  } catch (const Wrong&) {
    return std::nullopt;
  }
}

void write_queue_mark(const RunFolder& run, const QueueMark& mark) {
  run.queued().write(one_line(json::object{{"submission", mark.submission},
                                           {"task", mark.task},
                                           {"begun", mark.begun},
                                           {"ended", mark.ended},
                                           {"details", mark.details}}) +
                         "\n",
                     Durability::process);
}

bool waits_in_queue(const RunFolder& run) try {
  const auto mark = read_queue_mark(run);
  return mark && mark->ended.empty();
} catch (const Unreadable&) {
  return true; // it may be waiting, and must not be submitted a second time
}

void leave_queue(const RunFolder& run) { run.queued().remove(); }

} // namespace heed
