// The option tables of the structs in config.hpp. The tables of the layers are in layers/layer_options. Words that
// other modules register (`Registry::words`) are not in these tables; the catalogue adds them.
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
