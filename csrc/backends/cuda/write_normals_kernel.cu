#include "backends/cuda/piece_kernel.cuh"
#include "backends/cuda/write_normals.h"
#include "tuning/normal_index.h"

namespace tunedops::cuda {
namespace {

// `Bits` is any type of the element's size: numbers are only moved. The table
// stays in the first cache, as random reads of shared memory would not be worth
// loading it for every block.
template <class Bits>
__global__ void write(ElementPieces<sizeof(Bits)> pieces, const Bits* table,
                      std::uint64_t seed) {
  using Pieces = ElementPieces<sizeof(Bits)>;
  auto* const base = reinterpret_cast<Bits*>(pieces.base);
  const bool is_aligned = pieces.base % sizeof(Bits) == 0;
  for (std::int64_t item = first_item(); item < pieces.count();
       item += item_stride()) {
    const Piece piece = pieces.at(item);
    if (piece.is_word) {
      alignas(16) Bits word[Pieces::kPerWord];
#pragma unroll
      for (int i = 0; i < Pieces::kPerWord; ++i) {
        word[i] = __ldg(table + normal_index(seed, piece.begin + i));
      }
      *reinterpret_cast<uint4*>(base + piece.begin) =
          *reinterpret_cast<const uint4*>(word);
    } else {
      for (std::int64_t i = piece.begin; i < piece.end; ++i) {
        store_element(base + i, __ldg(table + normal_index(seed, i)),
                      is_aligned);
      }
    }
  }
}

template <class Bits>
cudaError_t write_bits(const Runs& runs, void* base, const void* table,
                       std::uint64_t seed, cudaStream_t stream) {
  const ElementPieces<sizeof(Bits)> pieces(
      runs, reinterpret_cast<std::uintptr_t>(base));
  return launch_over(pieces.count(), stream, &write<Bits>, pieces,
                     static_cast<const Bits*>(table), seed);
}

}  // namespace

cudaError_t write_normals(const Runs& runs, void* base,
                          std::size_t element_bytes, const void* table,
                          std::uint64_t seed, cudaStream_t stream) {
  switch (element_bytes) {
  case 2:
    return write_bits<unsigned short>(runs, base, table, seed, stream);
  case 4:
    return write_bits<unsigned>(runs, base, table, seed, stream);
  case 8:
    return write_bits<uint2>(runs, base, table, seed, stream);
  case 16:
    return write_bits<uint4>(runs, base, table, seed, stream);
  default:
    return cudaErrorInvalidValue;
  }
}

}  // namespace tunedops::cuda
