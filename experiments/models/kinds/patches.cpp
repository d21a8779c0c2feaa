#include "experiments/config/config.hpp"
#include "experiments/models/block_stack.hpp"
#include "layers/linear.hpp"
#include "layers/pooling.hpp"

#include <algorithm>
#include <optional>

namespace heed::HEED_REAL {

namespace {

struct Options {
  std::int64_t patch = 4;
  std::string stem = "linear";
  std::int64_t channels = 16;
  std::int64_t groups = 4;
  std::string pooling = "mean";
};

const OptionTable<Options>& table() {
  static const auto t = option_table<Options>(
      option("patch", &Options::patch, "height and width of a patch; it must divide the image's")
          .between(1, 1024)
          .unit("pixels"),
      option("stem", &Options::stem,
             "what is cut into patches: the image; or the output of two convolutions of 3 x 3 pixels with group norms "
             "and a residual connection")
          .one_of({"linear", "convolution"}),
      option("channels", &Options::channels, "channels of the stem's convolutions").between(1, 65536),
      option("groups", &Options::groups,
             "number of channel groups in the stem's group norms; it must divide the channels")
          .between(1, 65536),
      option("pooling", &Options::pooling,
             "the vector from which the class is predicted: the mean over all patches; the first or the last patch; or "
             "a weighted sum of all patches, with the weights of a learned query under the last block's score and "
             "normaliser (context)")
          .one_of(pooling_words()));
  return t;
}

/// h = gelu(norm(conv(x))), then h + gelu(norm(conv(h))). Maps [B, in, H, W] to [B, channels, H, W].
struct ConvolutionStem {
  Convolution enter, refine;
  GroupNorm enter_norm, refine_norm;

  ConvolutionStem(const Scope& scope, std::int64_t in, const Options& options)
      : enter(scope / "enter", {.in = in, .out = options.channels, .kernel = 3, .options = {1, 1}}),
        refine(scope / "refine", {.in = options.channels, .out = options.channels, .kernel = 3, .options = {1, 1}}),
        enter_norm(scope / "enter_norm", options.groups, options.channels),
        refine_norm(scope / "refine_norm", options.groups, options.channels) {}

  Tensor operator()(Pass& pass, const Tensor& x) const {
    const Tensor h = gelu(enter_norm(pass, enter(pass, x)));
    return add(h, gelu(refine_norm(pass, refine(pass, h))));
  }
};

std::int64_t patch_count(const ImageShape& image, std::int64_t patch) {
  if (image.height % patch != 0 || image.width % patch != 0)
    throw Failed(fmt::format("[model.patches] patch = {} does not divide the images, which are {} x {} pixels", patch,
                             image.height, image.width));
  return (image.height / patch) * (image.width / patch);
}

class Patches : public Model {
public:
  Patches(const Scope& scope, const Config& config, const TaskSizes& sizes)
      : Patches(scope, config, sizes, table().read(config.model_options)) {}

  Tensor logits(Pass& pass, const Batch& batch) const override {
    const ImageShape& image = batch.image;
    const Tensor pixels = pass.tape().make({batch.sequences, image.channels, image.height, image.width});
    std::copy(batch.images.begin(), batch.images.end(), pixels.data);
    const Tensor cut = patches_(pass, stem_ ? (*stem_)(pass, pixels) : pixels); // [B, width, H / patch, W / patch]
    const Tensor vectors = contiguous(transpose(reshape(cut, {batch.sequences, cut.shape[1], -1}), 1, 2));
    return output_(pass, pooling_(pass, blocks_(pass, vectors, {}), nullptr));
  }

private:
  Patches(const Scope& scope, const Config& config, const TaskSizes& sizes, const Options& options)
      : stem_(options.stem == "convolution"
                  ? std::optional<ConvolutionStem>(std::in_place, scope / "stem", sizes.image.channels, options)
                  : std::nullopt),
        patches_(scope / "patches", {.in = stem_ ? options.channels : sizes.image.channels,
                                     .out = config.model.width,
                                     .kernel = options.patch,
                                     .options = {.stride = options.patch}}),
        blocks_(scope, config,
                {.longest = patch_count(sizes.image, options.patch),
                 .patches_in_row = sizes.image.width / options.patch}),
        pooling_(scope / "pooling", options.pooling, config.layers.back(),
                 {blocks_.width(), patch_count(sizes.image, options.patch)}),
        output_((scope / "output").output_layer(), blocks_.width(), sizes.classes, has_head_bias(config, true)) {}

  std::optional<ConvolutionStem> stem_;
  Convolution patches_; // a linear map of each patch: the stride is the kernel size
  BlockStack blocks_;
  Pooling pooling_;
  Linear output_;
};

} // namespace

extern const ModelInfo model_patches{
    .about = {.name = "patches",
              .summary =
                  "a Transformer over the patches of an image, in which every patch attends to all others; it predicts "
                  "a class",
              .paper = "Dosovitskiy et al. 2021, arXiv 2010.11929; convolutions before the patches: Xiao et al. 2021, "
                       "arXiv 2106.14881",
              .cost = "about 12 width^2 parameters for each layer with the standard widths; time grows with the square "
                      "of the number of patches",
              .options = table().options(),
              .presets = {{"attention.causal", Value(false)},
                          {"position.kind", Value(std::string("learned"))},
                          {"position.t5.both_sides", Value(true)}},
              .disables = {"model.embedding_scale", "model.segment_end", "init.embedding"},
              .conditions = {{"model.patches.channels", "model.patches.stem", {"convolution"}},
                             {"model.patches.groups", "model.patches.stem", {"convolution"}}}},
    .format = TaskFormat::image_classification,
    .make = [](const Scope& scope, const Config& config, const TaskSizes& sizes) -> std::unique_ptr<Model> {
      return std::make_unique<Patches>(scope, config, sizes);
    },
    .stacks = {"encoder"}};

} // namespace heed::HEED_REAL
