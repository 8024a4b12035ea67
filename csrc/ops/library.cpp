// Every schema of torch.ops.tunedops, and nothing else. Names of arguments are
// torch's. Implementations are registered in gemm_dispatch.cpp.

#include <torch/library.h>

TORCH_LIBRARY(tunedops, m) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  m.def("mm(Tensor self, Tensor mat2) -> Tensor", tags);
  m.def("mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
        tags);
  m.def("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
        "Scalar alpha=1) -> Tensor",
        tags);
  m.def("addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
        "Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        tags);
  m.def("bmm(Tensor self, Tensor mat2) -> Tensor", tags);
  m.def("bmm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
        tags);
  m.def("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
        "Scalar alpha=1) -> Tensor",
        tags);
  m.def("baddbmm.out(Tensor self, Tensor batch1, Tensor batch2, *, "
        "Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        tags);
  m.def("linear(Tensor input, Tensor weight, Tensor? bias=None, "
        "str activation=\"none\") -> Tensor",
        tags);
}
