// The option tables of the structs of config.hpp; those of the layers stand in layers/layer_options. Words that other
// rooms register (`Registry::words`) are not in these tables; the catalogue has them.
#pragma once

#include "experiments/config/config.hpp"

namespace heed {

const OptionTable<GeneralOptions>& general_option_table();
const OptionTable<DataOptions>& data_option_table();
const OptionTable<TaskOptions>& task_option_table();
const OptionTable<ModelOptions>& model_option_table();
const OptionTable<InitOptions>& init_option_table();
const OptionTable<TrainOptions>& train_option_table();
const OptionTable<EngineOptions>& engine_option_table();
const OptionTable<ReportOptions>& report_option_table();

} // namespace heed
