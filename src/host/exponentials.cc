// SPDX-License-Identifier: Apache-2.0
#include "src/host/exponentials.h"

#include <algorithm>
#include <cmath>

#include "src/arith/fixed_point.h"
#include "src/arith/rounding.h"

namespace npu::host {

Exponentials MakeExponentials(double beta, double scale) {
  const double real = std::min(beta * scale * double{1 << 26}, 2147483647.0);
  Exponentials table;
  table.multiplier = arith::QuantizeMultiplier(real);
  // dmin = -floor(31 * 2^26 / 2^e); an exponent below 0 never limits 8-bit differences.
  const double limit =
      std::floor(31.0 * double{1 << 26} / std::ldexp(1.0, table.multiplier.exponent));
  table.deepest = static_cast<int32_t>(std::min(limit, 255.0));
  for (int32_t d = 0; d <= table.deepest; ++d) {
    const auto i = static_cast<size_t>(d);
    table.scaled[i] = arith::MultiplyByQuantizedMultiplier(-d, table.multiplier);
    table.value[i] = arith::ExpOfNegative(table.scaled[i]);
    table.addend[i] = arith::RoundingDivideByPot(table.value[i], 12);
  }
  return table;
}

}  // namespace npu::host
