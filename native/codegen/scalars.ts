// The scalar types of fields.

/** What a field of a scalar type is in C++. */
export const SCALARS: Record<string, {cpp: string; size: number}> = {
  u8: {cpp: 'std::uint8_t', size: 1},
  u16: {cpp: 'std::uint16_t', size: 2},
  u32: {cpp: 'std::uint32_t', size: 4},
  u64: {cpp: 'std::uint64_t', size: 8},
  i32: {cpp: 'std::int32_t', size: 4},
  i64: {cpp: 'std::int64_t', size: 8},
  f64: {cpp: 'double', size: 8},
  handle: {cpp: 'std::uint64_t', size: 8},
}
