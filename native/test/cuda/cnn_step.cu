// Training steps of a small convolutional net, six kernels each, as a framework runs them: between the launches it asks
// the driver hundreds of things that change nothing. Arguments: how many steps; "quiet" to ask nothing, and everything
// else is as before.
#include <cuda.h>

#include "program.h"

// Images of kSide by kSide, kFilters filters of 3 by 3, pooled by 2, one output an image.
constexpr int kImages = 4, kSide = 10, kFilters = 3, kInner = kSide - 2, kPooled = kInner / 2,
              kFeatures = kFilters * kPooled * kPooled;
constexpr float kRate = 0.01f;
constexpr int kAttributes = 716, kDeviceQuestions = 254, kLaunches = 6;

struct Net {
  float *images, *wanted, *filters, *weights, *maps, *features, *errors, *weight_steps, *filter_steps;
};
constexpr int kMaps = kImages * kFilters * kInner * kInner, kAllFeatures = kImages * kFeatures,
              kFilterSize = kFilters * 9;

// One value each of what a layer makes: the kernels and the CPU share them.
__host__ __device__ void convolve(const Net& net, int i) {
  const int x = i % kInner, y = i / kInner % kInner, filter = i / kInner / kInner % kFilters,
            image = i / kInner / kInner / kFilters;
  float sum = 0;
  for (int tap = 0; tap < 9; ++tap)
    sum += net.filters[filter * 9 + tap] * net.images[(image * kSide + y + tap / 3) * kSide + x + tap % 3];
  net.maps[i] = sum > 0 ? sum : 0;
}
__host__ __device__ void pool(const Net& net, int i) {
  const int x = i % kPooled, y = i / kPooled % kPooled, map = i / kPooled / kPooled;
  const float* from = net.maps + (map * kInner + 2 * y) * kInner + 2 * x;
  net.features[i] = (from[0] + from[1] + from[kInner] + from[kInner + 1]) / 4;
}
__host__ __device__ void score(const Net& net, int image) {
  float sum = 0;
  for (int i = 0; i < kFeatures; ++i) sum += net.weights[i] * net.features[image * kFeatures + i];
  net.errors[image] = sum - net.wanted[image];
}
__host__ __device__ void step_weight(const Net& net, int i) {
  float sum = 0;
  for (int image = 0; image < kImages; ++image) sum += net.errors[image] * net.features[image * kFeatures + i];
  net.weight_steps[i] = sum;
}
__host__ __device__ void step_filter(const Net& net, int i) {
  const int filter = i / 9, tap = i % 9;
  float sum = 0;
  for (int image = 0; image < kImages; ++image)
    for (int y = 0; y < kInner; ++y)
      for (int x = 0; x < kInner; ++x) {
        if (net.maps[((image * kFilters + filter) * kInner + y) * kInner + x] <= 0) continue;
        const float slope = net.errors[image] * net.weights[(filter * kPooled + y / 2) * kPooled + x / 2] / 4;
        sum += slope * net.images[(image * kSide + y + tap / 3) * kSide + x + tap % 3];
      }
  net.filter_steps[i] = sum;
}
__host__ __device__ void update(const Net& net, int i) {
  if (i < kFeatures) net.weights[i] -= kRate * net.weight_steps[i];
  else net.filters[i - kFeatures] -= kRate * net.filter_steps[i - kFeatures];
}

using Layer = void (*)(const Net&, int);
template <Layer layer>
__global__ void run(Net net, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) layer(net, i);
}
template <Layer layer>
void on_cpu(const Net& net, int count) {
  for (int i = 0; i < count; ++i) layer(net, i);
}

/// What a step asks besides: all of it is known without asking the device.
class Questions {
 public:
  explicit Questions(bool is_quiet) : is_quiet_(is_quiet) {}
  /// The share of one launch.
  void ask(int launch, const void* memory) {
    if (is_quiet_) return;
    CUdevice device = -1;
    for (int i = share(kDeviceQuestions, launch); i < share(kDeviceQuestions, launch + 1); ++i) {
      is_good_ &= cuCtxGetDevice(&device) == CUDA_SUCCESS && device == 0;
    }
    for (int i = share(kAttributes, launch); i < share(kAttributes, launch + 1); ++i) {
      int value = 0;
      is_good_ &= cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(1 + i % 120), device) == CUDA_SUCCESS;
    }
    CUcontext context = nullptr;
    unsigned flags = 0;
    int priority = 0, least = 0, greatest = 0, count = 0;
    unsigned long long id = 0;
    is_good_ &= cuCtxGetCurrent(&context) == CUDA_SUCCESS && cuCtxGetId(context, &id) == CUDA_SUCCESS &&
                cuDeviceGetCount(&count) == CUDA_SUCCESS;
    is_good_ &= cuCtxGetStreamPriorityRange(&least, &greatest) == CUDA_SUCCESS &&
                cuStreamGetPriority(nullptr, &priority) == CUDA_SUCCESS;
    is_good_ &= cuStreamGetFlags(nullptr, &flags) == CUDA_SUCCESS;
    cudaPointerAttributes attributes{};
    is_good_ &= cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
                attributes.type == cudaMemoryTypeDevice && attributes.device == 0;
    is_good_ &= cudaFuncSetAttribute(run<convolve>, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutDefault) == cudaSuccess;
    cudaFuncAttributes function{};
    is_good_ &= cudaFuncGetAttributes(&function, run<convolve>) == cudaSuccess && function.maxThreadsPerBlock > 0;
    is_good_ &= cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, run<convolve>, 64, 0) == cudaSuccess && count > 0;
  }
  bool were_answered() const { return is_good_; }

 private:
  static int share(int all, int launch) { return all * launch / kLaunches; }
  bool is_quiet_, is_good_ = true;
};

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 3;
  Questions questions(argc > 2 && std::strcmp(argv[2], "quiet") == 0);
  const auto images = program::random_floats(kImages * kSide * kSide, 1), wanted = program::random_floats(kImages, 2);
  const auto filters = program::random_floats(kFilterSize, 3), weights = program::random_floats(kFeatures, 4);

  const program::Device<float> d_images(images), d_wanted(wanted), d_filters(filters), d_weights(weights);
  const program::Device<float> d_maps(kMaps), d_features(kAllFeatures), d_errors(kImages), d_weight_steps(kFeatures),
      d_filter_steps(kFilterSize);
  const Net net{d_images, d_wanted, d_filters, d_weights, d_maps, d_features, d_errors, d_weight_steps, d_filter_steps};
  const auto launch = [&](int number, auto kernel, int count) {
    questions.ask(number, d_weights);
    kernel<<<(count + 63) / 64, 64>>>(net, count);
    CHECK(cudaGetLastError());
  };

  auto h_images = images, h_wanted = wanted, h_filters = filters, h_weights = weights;
  std::vector<float> h_maps(kMaps), h_features(kAllFeatures), h_errors(kImages), h_weight_steps(kFeatures),
      h_filter_steps(kFilterSize);
  const Net cpu{h_images.data(),   h_wanted.data(), h_filters.data(),      h_weights.data(),     h_maps.data(),
                h_features.data(), h_errors.data(), h_weight_steps.data(), h_filter_steps.data()};

  bool is_right = true;
  float first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    launch(0, run<convolve>, kMaps);
    launch(1, run<pool>, kAllFeatures);
    launch(2, run<score>, kImages);
    launch(3, run<step_weight>, kFeatures);
    launch(4, run<step_filter>, kFilterSize);
    launch(5, run<update>, kFeatures + kFilterSize);
    const auto errors = d_errors.read();

    on_cpu<convolve>(cpu, kMaps);
    on_cpu<pool>(cpu, kAllFeatures);
    on_cpu<score>(cpu, kImages);
    on_cpu<step_weight>(cpu, kFeatures);
    on_cpu<step_filter>(cpu, kFilterSize);
    on_cpu<update>(cpu, kFeatures + kFilterSize);
    last = 0;
    for (int i = 0; i < kImages; ++i) {
      is_right &= program::is_near(errors[i], h_errors[i], 1e-4);
      last += errors[i] * errors[i];
    }
    if (step == 0) first = last;
  }
  program::expect(is_right, "every step has the error it has on the CPU");
  program::expect(last < first || steps < 2, "it learns");
  program::expect(questions.were_answered(), "every question is answered");
  program::print_checksum("weights", d_weights.read());
  return program::verdict();
}
