// SPDX-License-Identifier: Apache-2.0
// The fields that the generated register structs are made of. A constant that does not fit its
// field is a compile error; a run-time value (Var) is stored as it is and checked by Encode, which
// names register, field, value and width. Nothing is ever truncated.
#ifndef SRC_REGS_FIELD_H_
#define SRC_REGS_FIELD_H_

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace npu::regs {

// A value known only at run time, on its way into a field.
class Var {
 public:
  template <typename T>
  requires std::integral<T> || std::is_enum_v<T>
  constexpr explicit Var(T v) : value_(Widen(v)) {}
  constexpr int64_t value() const { return value_; }

 private:
  template <typename T>
  static constexpr int64_t Widen(T v) {
    if constexpr (std::is_enum_v<T>) {
      return Widen(static_cast<std::underlying_type_t<T>>(v));
    } else if constexpr (std::is_same_v<T, bool>) {
      return v ? 1 : 0;
    } else {  // beyond int64_t no field fits either, so the clamp cannot hide an overflow
      return std::in_range<int64_t>(v) ? static_cast<int64_t>(v)
                                       : std::numeric_limits<int64_t>::max();
    }
  }
  int64_t value_;
};

// What a field holds; kAddress: the byte address, whose bits below the field's lsb must be 0.
enum class FieldKind : uint8_t { kUint, kBool, kSigned, kEnum, kAddress };

// Smallest value of a field of `width` bits.
constexpr int64_t FieldMin(unsigned width, bool is_signed) {
  return is_signed ? -(int64_t{1} << (width - 1)) : 0;
}
// Largest value; of an address field the largest byte address.
constexpr int64_t FieldMax(unsigned lsb, unsigned width, FieldKind kind) {
  if (kind == FieldKind::kSigned) return (int64_t{1} << (width - 1)) - 1;
  const int64_t max = (int64_t{1} << width) - 1;
  return kind == FieldKind::kAddress ? max << lsb : max;
}
// In range, and for an address a multiple of 1 << lsb.
constexpr bool FieldFits(int64_t v, unsigned lsb, unsigned width, FieldKind kind) {
  if (v < FieldMin(width, kind == FieldKind::kSigned) || v > FieldMax(lsb, width, kind))
    return false;
  return kind != FieldKind::kAddress || (v & ((int64_t{1} << lsb) - 1)) == 0;
}
// The bits of the register word that the field occupies.
constexpr uint32_t FieldMask(unsigned lsb, unsigned width) {
  return static_cast<uint32_t>(((uint64_t{1} << width) - 1) << lsb);
}
// A fitting value at its place in the register word; the caller has checked FieldFits.
constexpr uint32_t FieldInsert(int64_t v, unsigned lsb, unsigned width, FieldKind kind) {
  const uint64_t shifted =
      kind == FieldKind::kAddress ? static_cast<uint64_t>(v) : static_cast<uint64_t>(v) << lsb;
  return static_cast<uint32_t>(shifted) & FieldMask(lsb, width);
}
// The value of the field in a register word, sign-extended where signed.
constexpr int64_t FieldExtract(uint32_t word, unsigned lsb, unsigned width, FieldKind kind) {
  const uint32_t in_place = word & FieldMask(lsb, width);
  if (kind == FieldKind::kAddress) return in_place;
  int64_t v = in_place >> lsb;
  if (kind == FieldKind::kSigned && v > FieldMax(lsb, width, kind)) v -= int64_t{1} << width;
  return v;
}

// A constant that does not fit its register field (declared only: calling it stops the compiler).
void ConstantDoesNotFitItsRegisterField();

// No enumeration: the field takes numbers only.
enum class NoEnum : uint8_t {};

// Width bits of a register from bit Lsb. E: the field's enumeration, whose values always fit.
template <unsigned Lsb, unsigned Width, FieldKind Kind, typename E = NoEnum>
class BasicField {
  static_assert(Width >= 1 && Lsb + Width <= 32);

 public:
  constexpr BasicField() = default;
  template <std::integral T>
  consteval BasicField(T constant) : value_(Var(constant).value()) {  // NOLINT(runtime/explicit)
    if (!FieldFits(value_, Lsb, Width, Kind)) ConstantDoesNotFitItsRegisterField();
  }
  constexpr BasicField(Var v) : value_(v.value()) {}     // NOLINT(runtime/explicit)
  constexpr BasicField(E e) : value_(Var(e).value()) {}  // NOLINT(runtime/explicit)

  constexpr int64_t get() const { return value_; }
  constexpr bool fits() const { return FieldFits(value_, Lsb, Width, Kind); }
  constexpr E as_enum() const { return static_cast<E>(value_); }
  constexpr uint32_t InWord() const { return FieldInsert(value_, Lsb, Width, Kind); }
  static constexpr BasicField FromWord(uint32_t word) {
    return BasicField(Var(FieldExtract(word, Lsb, Width, Kind)));
  }
  friend constexpr bool operator==(BasicField a, BasicField b) { return a.value_ == b.value_; }

 private:
  int64_t value_ = 0;
};

template <unsigned Lsb, unsigned Width, bool Signed>
using Field = BasicField<Lsb, Width, Signed ? FieldKind::kSigned : FieldKind::kUint>;
template <unsigned Lsb, unsigned Width>
using AddressField = BasicField<Lsb, Width, FieldKind::kAddress>;
template <unsigned Lsb, unsigned Width, typename E>
using EnumField = BasicField<Lsb, Width, FieldKind::kEnum, E>;

}  // namespace npu::regs

#endif  // SRC_REGS_FIELD_H_
