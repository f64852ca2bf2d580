// A small multilayer perceptron, trained by kernels of this file on points of two spirals that it makes itself. Every
// sum has one order, so that the loss is the same to the bit wherever it runs on the same device; the CPU does the
// first step too.
#include "program.h"

constexpr int kIn = 2, kHidden = 32, kOut = 2, kBatch = 128, kPoints = 512;

struct Layer {
  int in, out;
  float *weights, *bias, *weights_gradient, *bias_gradient, *weights_velocity, *bias_velocity;
};

/// out[b][o] = in[b] . weights[o] + bias[o]
__global__ void forward(const float* in, const float* weights, const float* bias, float* out, int ins, int outs,
                        bool is_hidden) {
  const int o = threadIdx.x, b = blockIdx.x;
  float sum = bias[o];
  for (int i = 0; i < ins; ++i) sum += in[b * ins + i] * weights[o * ins + i];
  out[b * outs + o] = is_hidden ? tanhf(sum) : sum;
}

/// Loss of each point, and what the last layer's outputs have to change.
__global__ void softmax_loss(const float* logits, const int* labels, float* losses, float* gradient) {
  const int b = blockIdx.x * blockDim.x + threadIdx.x;
  const float most = fmaxf(logits[2 * b], logits[2 * b + 1]);
  const float e0 = expf(logits[2 * b] - most), e1 = expf(logits[2 * b + 1] - most), sum = e0 + e1;
  losses[b] = logf(sum) - (logits[2 * b + labels[b]] - most);
  gradient[2 * b] = (e0 / sum - (labels[b] == 0)) / kBatch;
  gradient[2 * b + 1] = (e1 / sum - (labels[b] == 1)) / kBatch;
}

__global__ void weight_gradients(const float* in, const float* gradient, float* weights_gradient, float* bias_gradient,
                                 int ins, int outs) {
  const int i = threadIdx.x, o = blockIdx.x;
  float sum = 0, bias_sum = 0;
  for (int b = 0; b < kBatch; ++b) {
    sum += in[b * ins + i] * gradient[b * outs + o];
    bias_sum += gradient[b * outs + o];
  }
  weights_gradient[o * ins + i] = sum;
  if (i == 0) bias_gradient[o] = bias_sum;
}

/// Back through the weights, and through tanh of the layer before.
__global__ void input_gradients(const float* gradient, const float* weights, const float* activation, float* out,
                                int ins, int outs) {
  const int i = threadIdx.x, b = blockIdx.x;
  float sum = 0;
  for (int o = 0; o < outs; ++o) sum += gradient[b * outs + o] * weights[o * ins + i];
  out[b * ins + i] = sum * (1 - activation[b * ins + i] * activation[b * ins + i]);
}

__global__ void step(float* values, const float* gradient, float* velocity, int count, float rate) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  velocity[i] = 0.9f * velocity[i] + gradient[i];
  values[i] -= rate * velocity[i];
}

__global__ void mean(const float* values, float* result) {
  __shared__ float sums[kBatch];
  sums[threadIdx.x] = values[threadIdx.x];
  for (int half = kBatch / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *result = sums[0] / kBatch;
}

float* floats(std::size_t count) {
  float* memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(float)));
  CHECK(cudaMemset(memory, 0, count * sizeof(float)));
  return memory;
}

Layer make_layer(int in, int out, std::uint32_t seed) {
  Layer layer{in, out, floats(in * out), floats(out), floats(in * out), floats(out), floats(in * out), floats(out)};
  auto weights = program::random_floats(in * out, seed);
  for (auto& weight : weights) weight *= std::sqrt(3.0f / static_cast<float>(in));
  CHECK(cudaMemcpy(layer.weights, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
  return layer;
}

void spirals(std::vector<float>& points, std::vector<int>& labels) {
  program::Random random(21);
  for (int i = 0; i < kPoints; ++i) {
    const int label = i % 2;
    const float t = static_cast<float>(i / 2) / (kPoints / 2),
                angle = 4.5f * t + 3.1415927f * static_cast<float>(label);
    points.push_back((0.1f + t) * std::cos(angle) + 0.02f * random.uniform());
    points.push_back((0.1f + t) * std::sin(angle) + 0.02f * random.uniform());
    labels.push_back(label);
  }
  // In a mixed order: batches are pieces of it.
  for (int i = kPoints - 1; i > 0; --i) {
    const int other = static_cast<int>(random.next() % static_cast<unsigned>(i + 1));
    std::swap(points[2 * i], points[2 * other]), std::swap(points[2 * i + 1], points[2 * other + 1]),
        std::swap(labels[i], labels[other]);
  }
}

struct Network {
  Layer layers[3] = {make_layer(kIn, kHidden, 31), make_layer(kHidden, kHidden, 32), make_layer(kHidden, kOut, 33)};
  float* outputs[3] = {floats(kBatch * kHidden), floats(kBatch * kHidden), floats(kBatch * kOut)};
  float* gradients[3] = {floats(kBatch * kHidden), floats(kBatch * kHidden), floats(kBatch * kOut)};
  float *losses = floats(kBatch), *loss = floats(1);

  void run_forward(const float* points) {
    const float* in = points;
    for (int i = 0; i < 3; ++i) {
      forward<<<kBatch, layers[i].out>>>(in, layers[i].weights, layers[i].bias, outputs[i], layers[i].in, layers[i].out,
                                         i < 2);
      in = outputs[i];
    }
  }

  void learn(const float* points, const int* labels, float rate) {
    run_forward(points);
    softmax_loss<<<1, kBatch>>>(outputs[2], labels, losses, gradients[2]);
    mean<<<1, kBatch>>>(losses, loss);
    for (int i = 2; i >= 0; --i) {
      const auto& layer = layers[i];
      const float* in = i > 0 ? outputs[i - 1] : points;
      weight_gradients<<<layer.out, layer.in>>>(in, gradients[i], layer.weights_gradient, layer.bias_gradient, layer.in,
                                                layer.out);
      if (i > 0)
        input_gradients<<<kBatch, layer.in>>>(gradients[i], layer.weights, outputs[i - 1], gradients[i - 1], layer.in,
                                              layer.out);
    }
    for (const auto& layer : layers) {
      const int count = layer.in * layer.out;
      step<<<(count + 127) / 128, 128>>>(layer.weights, layer.weights_gradient, layer.weights_velocity, count, rate);
      step<<<1, 128>>>(layer.bias, layer.bias_gradient, layer.bias_velocity, layer.out, rate);
    }
    CHECK(cudaGetLastError());
  }

  float last_loss() {
    float value = 0;
    CHECK(cudaMemcpy(&value, loss, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
};

std::vector<float> read(const float* memory, std::size_t count) {
  std::vector<float> values(count);
  CHECK(cudaMemcpy(values.data(), memory, count * sizeof(float), cudaMemcpyDeviceToHost));
  return values;
}

/// The loss of the first batch with the first weights, in double precision.
double loss_on_cpu(Network& network, const std::vector<float>& points, const std::vector<int>& labels) {
  double loss = 0;
  for (int b = 0; b < kBatch; ++b) {
    std::vector<double> in(points.begin() + 2 * b, points.begin() + 2 * b + 2);
    for (int i = 0; i < 3; ++i) {
      const auto& layer = network.layers[i];
      const auto weights = read(layer.weights, layer.in * layer.out), bias = read(layer.bias, layer.out);
      std::vector<double> out(layer.out);
      for (int o = 0; o < layer.out; ++o) {
        out[o] = bias[o];
        for (int k = 0; k < layer.in; ++k) out[o] += in[k] * weights[o * layer.in + k];
        if (i < 2) out[o] = std::tanh(out[o]);
      }
      in = out;
    }
    loss += std::log(std::exp(in[0]) + std::exp(in[1])) - in[labels[b]];
  }
  return loss / kBatch;
}

int main(int count, char** arguments) {
  std::vector<float> points;
  std::vector<int> labels;
  spirals(points, labels);
  const program::Device<float> on_points(points);
  const program::Device<int> on_labels(labels);
  Network network;
  const double right = loss_on_cpu(network, points, labels);
  const int epochs = 60 * program::scale(count, arguments);
  float first = 0, last = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    for (int batch = 0; batch < kPoints / kBatch; ++batch) {
      network.learn(on_points + batch * kBatch * kIn, on_labels + batch * kBatch, 0.1f);
      if (epoch + batch == 0) first = network.last_loss();
    }
    last = network.last_loss();
    if (epoch % 10 == 9) std::printf("epoch %d: loss %a\n", epoch + 1, last);
  }
  int hits = 0;
  for (int batch = 0; batch < kPoints / kBatch; ++batch) {
    network.run_forward(on_points + batch * kBatch * kIn);
    const auto logits = read(network.outputs[2], kBatch * kOut);
    for (int b = 0; b < kBatch; ++b) hits += (logits[2 * b + 1] > logits[2 * b]) == (labels[batch * kBatch + b] == 1);
  }
  std::printf("first loss %a, accuracy %d of %d\n", first, hits, kPoints);
  program::expect(program::is_near(first, right, 1e-4), "the first loss is the CPU's");
  program::expect(last < first / 4, "the loss falls");
  program::expect(hits > kPoints * 95 / 100, "nearly all points are told apart");
  program::print_checksum("weights", read(network.layers[1].weights, kHidden * kHidden));
  return program::verdict();
}
