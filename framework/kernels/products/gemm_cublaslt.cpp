// SPDX-License-Identifier: BSD-3-Clause
// Computes products on NVIDIA GPUs by cuBLASLt, for kernels::gemm (gemm.cpp). A row-major product is the
// column-major one with exchanged operands: C^T = op(B)^T op(A)^T, so no data is moved. For equal bits there
// is one workspace of fixed size on one stream, split-K only by partial sums in it (added in a fixed order),
// and an algorithm chosen by shape, type and alignment (memory/CMakeLists.txt) alone. float32 means float32,
// never TF32 (pedantic).
#include <map>
#include <string>
#include <unordered_map>

#include <cublasLt.h>

#include "kernels/aligned_bytes.hpp"
#include "kernels/map_row.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/products/gemm_epilogue.hpp"

namespace encore::kernels {
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
    case DType::float16:
      return CUDA_R_16F;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type(DType type) {
  switch (type) {
    case DType::float64:
      return CUBLAS_COMPUTE_64F_PEDANTIC;
    case DType::bfloat16:
    case DType::float16:
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

template <class Value>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  check(cublasLtMatmulDescSetAttribute(description.handle, attribute, &value, sizeof(value)),
        "describing a product");
}
template <class Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference.handle, attribute, &value, sizeof(value)),
        "stating a preference");
}

/// Returns the largest power of two, up to 256, that divides the address.
std::uint32_t alignment_of(const void* address) {
  std::uint32_t alignment = 256;
  while (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) alignment /= 2;
  return alignment;
}

/// Everything on which the choice of an algorithm depends.
struct Shape {
  std::int64_t rows, columns, inner;
  bool transpose_a, transpose_b, bias, relu, accumulate;
  DType in, out;
  std::uint32_t a_alignment, b_alignment, c_alignment;
  auto operator<=>(const Shape&) const = default;
};

/// Returns the shape with a rounded number of rows of the batch: those of c, or those that are added up. If
/// no distance between rows depends on it, an algorithm for the rounded shape works for every smaller one.
Shape rounded(Shape shape) {
  if (!shape.transpose_a)
    shape.rows = rounded_size(shape.rows);
  else if (!shape.transpose_b)
    shape.inner = rounded_size(shape.inner);
  return shape;
}

/// What the library needs for products of one shape, made once.
struct Plan {
  Layout a, b, c;
  Description description;
  cublasLtMatmulAlgo_t algorithm{};
  std::int64_t batch_rows = 0;                  ///< in the layouts now
  std::unordered_map<std::int64_t, bool> runs;  ///< for this number of rows, as the library says
};

template <class T>
void round_bias(const Device& device, const float* from, std::int64_t count, T* to) {
  kernels::map_elements(
      device, "encore::round_bias", count, to, KOKKOS_LAMBDA(const std::int64_t i) { return T(from[i]); });
}

class CublasLtGemm final : public GemmLibrary {
 public:
  CublasLtGemm() : workspace_("encore::gemm_workspace", workspace_bytes) {
    check(cublasLtCreate(&library_.handle), "starting");
  }

  std::string name() const override {
    const std::size_t version = cublasLtGetVersion();  // 130100 is 13.1
    return "cuBLASLt " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }

  bool multiplies(DType type) const override { return is_activation(type); }
  std::int64_t prepared() const override { return prepared_; }

  void multiply(const Device& device, const Product& p) override {
    const bool fused = p.c.dtype != DType::float64 && !p.accumulate;
    const Plan& plan = plan_of(p, fused);
    if (fused && p.bias) set(plan.description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias_of(device, p));
    const float one32 = 1.0F, keep32 = p.accumulate ? 1.0F : 0.0F;
    const double one64 = 1.0, keep64 = p.accumulate ? 1.0 : 0.0;
    const bool wide = p.a.dtype == DType::float64;
    const void* alpha = wide ? static_cast<const void*>(&one64) : &one32;
    const void* beta = wide ? static_cast<const void*>(&keep64) : &keep32;
    check(cublasLtMatmul(library_.handle, plan.description.handle, alpha, p.b.data, plan.b.handle, p.a.data,
                         plan.a.handle, beta, p.c.data, plan.c.handle, p.c.data, plan.c.handle,
                         &plan.algorithm, workspace_.data(), workspace_bytes, device.space().cuda_stream()),
          "a matrix product");
    // The library computes relu's derivative from a bit mask only, and sums in no fixed order.
    finish_product(device, p, !fused);
  }

 private:
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  static constexpr std::size_t most_plans = 4096;

  /// Returns the bias in the type of the result, as the library's epilogues take it. In 16 bits it is a
  /// rounded copy, which is valid until the next product with a bias.
  const void* bias_of(const Device& device, const Product& p) {
    if (p.c.dtype == DType::float32) return p.bias.data;
    const std::int64_t columns = p.columns();
    if (static_cast<std::int64_t>(bias_.size()) < columns) {
      device.fence();  // products may still read the old one
      bias_ = {};
      bias_ = Kokkos::View<std::uint16_t*, DeviceMemory>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "encore::gemm_bias"), rounded_size(columns));
      ++prepared_;
    }
    dispatch(p.c.dtype, [&](auto type) {
      using T = decltype(type);
      if constexpr (sizeof(T) == 2)
        round_bias(device, elements<float>(p.bias), columns, reinterpret_cast<T*>(bias_.data()));
    });
    return bias_.data();
  }

  const Plan& plan_of(const Product& p, bool fused) {
    const Shape shape{p.rows(),
                      p.columns(),
                      p.inner(),
                      p.transpose_a,
                      p.transpose_b,
                      fused && p.bias,
                      fused && p.relu,
                      p.accumulate,
                      p.a.dtype,
                      p.c.dtype,
                      alignment_of(p.a.data),
                      alignment_of(p.b.data),
                      alignment_of(p.c.data)};
    Plan& of_many = find(rounded(shape));
    resize(of_many, shape);
    if (runs(of_many)) return of_many;
    Plan& own = find(shape);
    resize(own, shape);
    return own;
  }

  Plan& find(const Shape& shape) {
    const auto found = plans_.find(shape);
    if (found != plans_.end()) return found->second;
    if (plans_.size() >= most_plans) plans_.clear();
    Plan& plan = plans_[shape];
    try {
      make(plan, shape);
    } catch (...) {
      plans_.erase(shape);
      throw;
    }
    return plan;
  }

  void make(Plan& plan, const Shape& s) {
    describe(plan.a, s.in, s.transpose_a ? s.inner : s.rows, s.transpose_a ? s.rows : s.inner);
    describe(plan.b, s.in, s.transpose_b ? s.columns : s.inner, s.transpose_b ? s.inner : s.columns);
    describe(plan.c, s.out, s.rows, s.columns);
    describe(plan.description, s);
    plan.batch_rows = batch_rows(s);
    choose_algorithm(plan, s);
    plan.runs[plan.batch_rows] = true;
    ++prepared_;
  }

  /// Describes the transposed view that a row-major matrix is to a column-major library.
  static void describe(Layout& layout, DType type, std::int64_t rows, std::int64_t columns) {
    check(cublasLtMatrixLayoutCreate(&layout.handle, type_of(type), static_cast<std::uint64_t>(columns),
                                     static_cast<std::uint64_t>(rows), columns),
          "describing a matrix");
  }

  static void describe(Description& description, const Shape& s) {
    check(cublasLtMatmulDescCreate(&description.handle, compute_type(s.in),
                                   s.in == DType::float64 ? CUDA_R_64F : CUDA_R_32F),
          "describing a product");
    set(description, CUBLASLT_MATMUL_DESC_TRANSA, s.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(description, CUBLASLT_MATMUL_DESC_TRANSB, s.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    const cublasLtEpilogue_t epilogue = s.bias
                                            ? (s.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                                            : (s.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
    set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (s.bias) set(description, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(s.out));
  }

  void choose_algorithm(Plan& plan, const Shape& s) {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(&preference.handle), "stating a preference");
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, s.b_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, s.a_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, s.c_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, s.c_alignment);
    cublasLtMatmulHeuristicResult_t result{};
    int count = 0;
    check(
        cublasLtMatmulAlgoGetHeuristic(library_.handle, plan.description.handle, plan.b.handle, plan.a.handle,
                                       plan.c.handle, plan.c.handle, preference.handle, 1, &result, &count),
        "choosing an algorithm");
    if (count == 0)
      throw Error("cuBLASLt has no algorithm for a product of " + std::to_string(s.rows) + " x " +
                  std::to_string(s.columns) + " x " + std::to_string(s.inner) + " elements of type " +
                  name_of(s.in));
    plan.algorithm = result.algo;
  }

  static std::int64_t batch_rows(const Shape& s) { return s.transpose_a ? s.inner : s.rows; }

  /// Changes the layouts to those of a shape that differs only in the batch's number of rows: columns for the
  /// library.
  static void resize(Plan& plan, const Shape& s) {
    if (plan.batch_rows == batch_rows(s)) return;
    plan.batch_rows = batch_rows(s);
    const auto count = static_cast<std::uint64_t>(plan.batch_rows);
    for (const Layout* layout : {&plan.a, s.transpose_a ? &plan.b : &plan.c})
      check(cublasLtMatrixLayoutSetAttribute(layout->handle, CUBLASLT_MATRIX_LAYOUT_COLS, &count,
                                             sizeof(count)),
            "describing a matrix");
  }

  /// Returns whether the algorithm computes the shape that the layouts have now.
  bool runs(Plan& plan) {
    const auto known = plan.runs.find(plan.batch_rows);
    if (known != plan.runs.end()) return known->second;
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(library_.handle, plan.description.handle, plan.b.handle, plan.a.handle,
                                plan.c.handle, plan.c.handle, &plan.algorithm, &result);
    const bool fits = status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= workspace_bytes;
    plan.runs.emplace(plan.batch_rows, fits);
    return fits;
  }

  Owned<cublasLtHandle_t, cublasLtDestroy> library_;
  AlignedBytes workspace_;
  Kokkos::View<std::uint16_t*, DeviceMemory> bias_;
  std::map<Shape, Plan> plans_;
  std::int64_t prepared_ = 0;
};

}  // namespace

std::unique_ptr<GemmLibrary> make_cublaslt_gemm() {
  return std::make_unique<CublasLtGemm>();
}

}  // namespace encore::kernels
