// What tests of results share: made-up tables, and the messages of refusals.
#pragma once

#include "autograd/error.hpp"
#include "experiments/results/compare_results.hpp"

#include <fmt/format.h>
#include <string>

namespace heed {

/// The message with which `act` is refused; "not refused" if it is not.
template <class Act> std::string refusal(const Act& act) {
  try {
    act();
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "not refused";
}

/// A table of CSV with the arms a, b and c over eight seeds. b is better than a in each seed, c is hardly different.
inline std::string csv_of_three_arms() {
  std::string text = "model,seed,accuracy,loss\n";
  for (int seed = 0; seed < 8; ++seed) {
    const double noise = 0.001 * ((seed * 5) % 7);
    text += fmt::format("a,{},{},{}\n", seed, 0.5 + noise, 1.5 - noise);
    text += fmt::format("b,{},{},{}\n", seed, 0.56 + noise + 0.0001 * seed, 1.4 - noise);
    text += fmt::format("c,{},{},{}\n", seed, 0.5 + noise + (seed % 2 == 0 ? 0.0005 : -0.0004), 1.5 - 2 * noise);
  }
  return text;
}

inline ResultRequest accuracy_of(const std::string& reference = "a") {
  ResultRequest question;
  question.metrics = {"accuracy"};
  question.reference = reference;
  return question;
}

inline ReportData compared(const std::string& text, const ResultRequest& question) {
  return compare_results(read_results(text, "r.csv"), question);
}

} // namespace heed
