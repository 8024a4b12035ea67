#include "backends/cuda/inspect_elements.h"
#include "backends/cuda/piece_kernel.cuh"
#include "tuning/typed_elements.h"

namespace tunedops::cuda {
namespace {

// Most threads that find something are not the first to, and see that without
// an atomic operation.
__device__ void report(FirstIndex* first, std::int64_t index) {
  const auto found = static_cast<FirstIndex>(index);
  if (found < *static_cast<volatile FirstIndex*>(first)) {
    atomicMin(first, found);
  }
}

__global__ void search_written(ElementPieces<1> pieces, FirstIndex* first) {
  const auto* const base = reinterpret_cast<const unsigned char*>(pieces.base);
  for (std::int64_t item = first_item(); item < pieces.count();
       item += item_stride()) {
    const Piece piece = pieces.at(item);
    if (piece.is_word) {
      const uint4 word = *reinterpret_cast<const uint4*>(base + piece.begin);
      if ((word.x & word.y & word.z & word.w) == 0xffffffffU) {
        continue;
      }
    }
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      if (base[i] != 0xff) {
        report(first, i);
        break;
      }
    }
  }
}

template <class T>
__global__ void search_disagreement(ElementPieces<sizeof(T)> pieces,
                                    const T* expected, Tolerance tolerance,
                                    FirstIndex* first) {
  using Pieces = ElementPieces<sizeof(T)>;
  const auto* const base = reinterpret_cast<const T*>(pieces.base);
  const auto other = reinterpret_cast<std::uintptr_t>(expected);
  const bool is_aligned = (pieces.base | other) % sizeof(T) == 0;
  const bool has_words = (pieces.base - other) % Pieces::kWord == 0;
  const auto agree = [tolerance](const T& value, const T& target) {
    return agrees(value, target, tolerance.absolute, tolerance.relative);
  };
  for (std::int64_t item = first_item(); item < pieces.count();
       item += item_stride()) {
    const Piece piece = pieces.at(item);
    if (piece.is_word && has_words) {
      alignas(16) T values[Pieces::kPerWord];
      alignas(16) T targets[Pieces::kPerWord];
      *reinterpret_cast<uint4*>(values) =
          *reinterpret_cast<const uint4*>(base + piece.begin);
      *reinterpret_cast<uint4*>(targets) =
          *reinterpret_cast<const uint4*>(expected + piece.begin);
      bool all = true;
#pragma unroll
      for (int i = 0; i < Pieces::kPerWord; ++i) {
        all = all && agree(values[i], targets[i]);
      }
      if (all) {
        continue;
      }
    }
    for (std::int64_t i = piece.begin; i < piece.end; ++i) {
      if (!agree(load_element(base + i, is_aligned),
                 load_element(expected + i, is_aligned))) {
        report(first, i);
        break;
      }
    }
  }
}

__global__ void gather(const unsigned char* base, std::int64_t element_bytes,
                       const std::int64_t* indices, std::int64_t bytes,
                       unsigned char* values) {
  for (std::int64_t i = first_item(); i < bytes; i += item_stride()) {
    values[i] =
        base[indices[i / element_bytes] * element_bytes + i % element_bytes];
  }
}

}  // namespace

cudaError_t find_written(const Runs& runs, const void* base, FirstIndex* first,
                         cudaStream_t stream) {
  const ElementPieces<1> pieces(runs, reinterpret_cast<std::uintptr_t>(base));
  return launch_over(pieces.count(), stream, &search_written, pieces, first);
}

cudaError_t find_disagreement(const Runs& runs, DType dtype, const void* base,
                              const void* expected, Tolerance tolerance,
                              FirstIndex* first, cudaStream_t stream) {
  return with_element_type(dtype, [&]<class T>() {
    const ElementPieces<sizeof(T)> pieces(
        runs, reinterpret_cast<std::uintptr_t>(base));
    return launch_over(pieces.count(), stream, &search_disagreement<T>, pieces,
                       static_cast<const T*>(expected), tolerance, first);
  });
}

cudaError_t gather_elements(const void* base, std::size_t element_bytes,
                            const std::int64_t* indices, std::size_t count,
                            void* values, cudaStream_t stream) {
  const auto bytes = static_cast<std::int64_t>(count * element_bytes);
  return launch_over(bytes, stream, &gather,
                     static_cast<const unsigned char*>(base), element_bytes,
                     indices, bytes, static_cast<unsigned char*>(values));
}

}  // namespace tunedops::cuda
