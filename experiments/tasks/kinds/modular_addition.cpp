// Task `modular_addition`: the sum of two numbers modulo a third.
#include "experiments/config/config.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

namespace heed {

extern const TaskInfo task_modular_addition;

namespace {

struct ModularAdditionOptions {
  std::int64_t modulus = 97;
};

const OptionTable<ModularAdditionOptions>& modular_addition_option_table() {
  static const auto table = option_table<ModularAdditionOptions>(
      option("modulus", &ModularAdditionOptions::modulus, "the p of (a + b) mod p; there are p^2 examples")
          .at_least(2)
          .at_most(65536));
  return table;
}

std::unique_ptr<Task> make_modular_addition(const Config& config) {
  const ModularAdditionOptions options = modular_addition_option_table().read(config.task_options);
  const auto p = static_cast<std::int32_t>(options.modulus);
  const std::int32_t plus = p, equals = p + 1;
  Generator sum;
  sum.name = "modular_addition";
  sum.options = modular_addition_option_table().write(options);
  sum.words = number_words(p);
  sum.words.push_back("+");
  sum.words.push_back("=");
  sum.separator = equals;
  sum.longest_input = 3;
  sum.longest_output = 1;
  sum.labels = p;
  sum.examples = static_cast<double>(p) * p;
  sum.enlarge = "task.modular_addition.modulus";
  sum.draw = [=](RandomSource& random, Example& example) {
    const auto a = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(p)));
    const auto b = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(p)));
    example.input.assign({a, plus, b});
    example.output.assign(1, (a + b) % p);
  };
  sum.chance = [=](bool ends) { return chance_of_label(p, "modulus", ends); };
  return generated_task(config, std::move(sum));
}

} // namespace

const TaskInfo task_modular_addition = {
    {.name = "modular_addition",
     .summary = "two numbers and their sum modulo p: 60 + 50 = 13, where p is 97",
     .paper = "Power, Burda, Edwards, Babuschkin and Misra 2022, Grokking, arXiv 2201.02177 (there half of the "
              "examples train, here eight tenths)",
     .equals = "",
     .cost = "rows of 4 tokens (classification: 3)",
     .options = modular_addition_option_table().options(),
     .presets = {}},
    make_modular_addition};

} // namespace heed
