// Products on NVIDIA GPUs by cuBLASLt. A row-major product is the column-major one with operands exchanged:
// C^T = op(B)^T op(A)^T, so b goes in first and no data is moved.
// Equal bits: one workspace of fixed size on one stream, split-K only by partial sums in the workspace (added
// in a fixed order), and an algorithm chosen by shape, type and alignment alone. The compute types are
// pedantic: float32 means float32, never TF32, whatever the environment says.
#include <algorithm>
#include <map>
#include <string>

#include <cublasLt.h>

#include "kernels/gemm.hpp"
#include "kernels/gemm_epilogue.hpp"

namespace encore {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(std::string("cuBLASLt: ") + what + " failed: " + cublasLtGetStatusString(status));
}

cudaDataType_t type_of(DType type) {
  switch (type) {
    case DType::float64:
      return CUDA_R_64F;
    case DType::bfloat16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type(DType type) {
  switch (type) {
    case DType::float64:
      return CUBLAS_COMPUTE_64F_PEDANTIC;
    case DType::bfloat16:
      return CUBLAS_COMPUTE_32F;
    default:
      return CUBLAS_COMPUTE_32F_PEDANTIC;
  }
}

/// A handle of the C interface that is destroyed with its owner.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
struct Owned {
  Handle handle = nullptr;
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle != nullptr) destroy(handle);
  }
};
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

/// The transposed view that a row-major matrix is to a column-major library.
void describe(Layout& layout, const Tensor& matrix) {
  check(cublasLtMatrixLayoutCreate(&layout.handle, type_of(matrix.dtype),
                                   static_cast<std::uint64_t>(matrix.extent(1)),
                                   static_cast<std::uint64_t>(matrix.extent(0)), matrix.extent(1)),
        "describing a matrix");
}

/// The largest power of two, up to 256, that divides the address.
std::uint32_t alignment_of(const Tensor& matrix) {
  const auto address = reinterpret_cast<std::uintptr_t>(matrix.data);
  std::uint32_t alignment = 256;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

/// All that the choice of an algorithm depends on.
struct Shape {
  std::int64_t rows, columns, inner;
  bool transpose_a, transpose_b, bias, relu, accumulate;
  DType in, out;
  std::uint32_t a_alignment, b_alignment, c_alignment;
  auto operator<=>(const Shape&) const = default;
};

class CublasLtGemm final : public GemmLibrary {
 public:
  CublasLtGemm()
      : workspace_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "encore::gemm_workspace"),
                   workspace_bytes) {
    check(cublasLtCreate(&library_.handle), "starting");
  }

  std::string name() const override {
    const std::size_t version = cublasLtGetVersion();  // 130100 is 13.1
    return "cuBLASLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }

  bool multiplies(DType) const override { return true; }
  std::int64_t prepared() const override { return prepared_; }

  void multiply(const Device& device, const Product& p) override {
    // The library fuses bias and relu for float32 results only.
    const bool fused = p.c.dtype == DType::float32 && !p.accumulate;
    Layout a, b, c;
    describe(a, p.a);
    describe(b, p.b);
    describe(c, p.c);
    Description description;
    describe_product(description, p, fused);
    const cublasLtMatmulAlgo_t algorithm = find_algorithm(p, fused, description, a, b, c);
    const float one32 = 1.0F, keep32 = p.accumulate ? 1.0F : 0.0F;
    const double one64 = 1.0, keep64 = p.accumulate ? 1.0 : 0.0;
    const bool wide = p.a.dtype == DType::float64;
    const void* alpha = wide ? static_cast<const void*>(&one64) : &one32;
    const void* beta = wide ? static_cast<const void*>(&keep64) : &keep32;
    check(cublasLtMatmul(library_.handle, description.handle, alpha, p.b.data, b.handle, p.a.data, a.handle,
                         beta, p.c.data, c.handle, p.c.data, c.handle, &algorithm, workspace_.data(),
                         workspace_bytes, device.space().cuda_stream()),
          "a matrix product");
    // Of derivatives the library knows relu's from a mask of bits only, and of sums no fixed order.
    finish_product(device, p, !fused);
  }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  static constexpr std::size_t most_algorithms = 4096;

  template <class Value>
  static void set(const Description& description, cublasLtMatmulDescAttributes_t attribute,
                  const Value& value) {
    check(cublasLtMatmulDescSetAttribute(description.handle, attribute, &value, sizeof(value)),
          "describing a product");
  }
  template <class Value>
  static void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
                  const Value& value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference.handle, attribute, &value, sizeof(value)),
          "stating a preference");
  }

  static void describe_product(Description& description, const Product& p, bool fused) {
    check(cublasLtMatmulDescCreate(&description.handle, compute_type(p.a.dtype),
                                   p.a.dtype == DType::float64 ? CUDA_R_64F : CUDA_R_32F),
          "describing a product");
    set(description, CUBLASLT_MATMUL_DESC_TRANSA, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(description, CUBLASLT_MATMUL_DESC_TRANSB, p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (!fused) return;
    const cublasLtEpilogue_t epilogue = p.bias
                                            ? (p.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                                            : (p.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
    set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (p.bias) {
      set(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias.data);
      set(description, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(p.bias.dtype));
    }
  }

  const cublasLtMatmulAlgo_t& find_algorithm(const Product& p, bool fused, const Description& description,
                                             const Layout& a, const Layout& b, const Layout& c) {
    const Shape shape{p.rows(),          p.columns(),       p.inner(),        p.transpose_a, p.transpose_b,
                      fused && p.bias,   fused && p.relu,   p.accumulate,     p.a.dtype,     p.c.dtype,
                      alignment_of(p.a), alignment_of(p.b), alignment_of(p.c)};
    const auto found = algorithms_.find(shape);
    if (found != algorithms_.end()) return found->second;
    if (algorithms_.size() >= most_algorithms) algorithms_.clear();
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(&preference.handle), "stating a preference");
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.b_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.a_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.c_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.c_alignment);
    cublasLtMatmulHeuristicResult_t result{};
    int count = 0;
    check(cublasLtMatmulAlgoGetHeuristic(library_.handle, description.handle, b.handle, a.handle, c.handle,
                                         c.handle, preference.handle, 1, &result, &count),
          "choosing an algorithm");
    if (count == 0)
      throw Error("cuBLASLt has no algorithm for a product of " + std::to_string(shape.rows) + " x " +
                  std::to_string(shape.columns) + " x " + std::to_string(shape.inner) + " elements of type " +
                  name_of(shape.in));
    ++prepared_;
    return algorithms_.emplace(shape, result.algo).first->second;
  }

  Owned<cublasLtHandle_t, cublasLtDestroy> library_;
  Kokkos::View<char*, DeviceMemory> workspace_;
  std::map<Shape, cublasLtMatmulAlgo_t> algorithms_;
  std::int64_t prepared_ = 0;
};

}  // namespace

std::unique_ptr<GemmLibrary> make_cublaslt_gemm() {
  return std::make_unique<CublasLtGemm>();
}

}  // namespace encore
