// SPDX-License-Identifier: Apache-2.0
#include "tests/hosts/reference.h"

#include <math.h>

typedef struct {
  int32_t multiplier;
  int32_t exponent;
} Multiplier;

static Multiplier MultiplierOf(double value) {
  Multiplier result = {0, 0};
  if (value == 0.0) return result;
  int exponent = 0;
  int64_t fixed = (int64_t)round(frexp(value, &exponent) * 2147483648.0);
  if (fixed == INT64_C(1) << 31) {
    fixed /= 2;
    ++exponent;
  }
  if (exponent < -31) return result;
  result.multiplier = (int32_t)fixed;
  result.exponent = exponent;
  return result;
}

// DOUBLE of 3.3: the first rounding sends ties up, the second away from zero.
static int32_t Rescale(int32_t value, Multiplier m) {
  const int32_t left = m.exponent > 0 ? m.exponent : 0;
  const int32_t right = m.exponent < 0 ? -m.exponent : 0;
  const int64_t shifted = (int32_t)((int64_t)value * (INT64_C(1) << left));
  const int64_t high = (shifted * m.multiplier + (INT64_C(1) << 30)) >> 31;
  if (right == 0) return (int32_t)high;
  const int64_t magnitude = high < 0 ? -high : high;
  const int64_t rounded = (magnitude + (INT64_C(1) << (right - 1))) >> right;
  return (int32_t)(high < 0 ? -rounded : rounded);
}

static int8_t Clamp(int32_t value, int32_t low) {
  if (value < low) value = low;
  return (int8_t)(value > 127 ? 127 : value);
}

static int32_t SumAt(const TfLiteTensor* input, const TfLiteTensor* filter, int32_t y, int32_t x,
                     int32_t o) {
  const int32_t height = input->dims->data[1], width = input->dims->data[2];
  const int32_t channels = input->dims->data[3];
  const int32_t rows = filter->dims->data[1], columns = filter->dims->data[2];
  const int8_t* in = input->data;
  const int8_t* weights = filter->data;
  int32_t sum = 0;
  for (int32_t ky = 0; ky < rows; ++ky) {
    for (int32_t kx = 0; kx < columns; ++kx) {
      const int32_t iy = y + ky - (rows - 1) / 2, ix = x + kx - (columns - 1) / 2;
      if (iy < 0 || ix < 0 || iy >= height || ix >= width) continue;  // padded taps are omitted
      for (int32_t c = 0; c < channels; ++c) {
        sum += (in[(iy * width + ix) * channels + c] - input->params.zero_point) *
               weights[((o * rows + ky) * columns + kx) * channels + c];
      }
    }
  }
  return sum;
}

void ReferenceConv(const TfLiteTensor* input, const TfLiteTensor* filter, const TfLiteTensor* bias,
                   const TfLiteConvParams* params, const TfLiteTensor* output) {
  const TfLiteAffineQuantization* scales = filter->quantization.params;
  const int32_t* biases = bias->data;
  int8_t* out = output->data;
  const int32_t zero = output->params.zero_point;
  const int32_t low = params->activation == kTfLiteActRelu && zero > -128 ? zero : -128;
  for (int32_t y = 0; y < output->dims->data[1]; ++y) {
    for (int32_t x = 0; x < output->dims->data[2]; ++x) {
      for (int32_t o = 0; o < output->dims->data[3]; ++o) {
        const double scale = (double)input->params.scale * (double)scales->scale->data[o] /
                             (double)output->params.scale;
        const int32_t sum = SumAt(input, filter, y, x, o) + biases[o];
        *out++ = Clamp(Rescale(sum, MultiplierOf(scale)) + zero, low);
      }
    }
  }
}

void ReferenceAdd(const TfLiteTensor* a, const TfLiteTensor* b, const TfLiteTensor* output) {
  const float larger = a->params.scale > b->params.scale ? a->params.scale : b->params.scale;
  const double twice = 2.0 * (double)larger;
  const Multiplier of_a = MultiplierOf((double)a->params.scale / twice);
  const Multiplier of_b = MultiplierOf((double)b->params.scale / twice);
  const float denominator = 1048576.0F * output->params.scale;
  const Multiplier of_sum = MultiplierOf(twice / (double)denominator);
  const int8_t* left = a->data;
  const int8_t* right = b->data;
  int8_t* out = output->data;
  for (size_t i = 0; i < output->bytes; ++i) {
    const int32_t scaled_a = Rescale((left[i] - a->params.zero_point) * 1048576, of_a);
    const int32_t scaled_b = Rescale((right[i] - b->params.zero_point) * 1048576, of_b);
    out[i] = Clamp(Rescale(scaled_a + scaled_b, of_sum) + output->params.zero_point, -128);
  }
}
