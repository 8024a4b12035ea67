#include "tuning/normal_data.h"

#include <array>
#include <cmath>
#include <mutex>
#include <numbers>
#include <random>
#include <vector>

namespace tunedops {
namespace {

// By Box and Muller's method; always the same ones, so that two runs tune on
// the same data.
std::vector<double> draw() {
  std::mt19937_64 engine(20240229);
  std::uniform_real_distribution<double> uniform(0x1p-40, 1.0);
  std::vector<double> drawn(kNormals);
  for (double& value : drawn) {
    const double radius = std::sqrt(-2.0 * std::log(uniform(engine)));
    value = radius * std::cos(2.0 * std::numbers::pi * uniform(engine));
  }
  return drawn;
}

struct Table {
  std::once_flag made;
  std::vector<std::byte> elements;
  std::vector<std::complex<double>> values;
};

// A complex number has two of the table, far apart, so that conjugating it or
// taking one part for the other shows.
void store(DType dtype, const std::vector<double>& drawn, std::size_t i,
           std::byte* elements) {
  const double other = drawn[(i + kNormals / 2) % kNormals];
  switch (dtype) {
  case DType::kComplex64:
    store_element(DType::kFloat32, elements, 2 * i, drawn[i]);
    store_element(DType::kFloat32, elements, 2 * i + 1, other);
    break;
  case DType::kComplex128:
    store_element(DType::kFloat64, elements, 2 * i, drawn[i]);
    store_element(DType::kFloat64, elements, 2 * i + 1, other);
    break;
  default:
    store_element(dtype, elements, i, drawn[i]);
    break;
  }
}

void make(DType dtype, Table& table) {
  static const std::vector<double> drawn = draw();
  table.elements.resize(kNormals * size_of(dtype));
  for (std::size_t i = 0; i < kNormals; ++i) {
    store(dtype, drawn, i, table.elements.data());
    table.values.push_back(load_element(dtype, table.elements.data(), i));
  }
}

const Table& table_of(DType dtype) {
  static std::array<Table, kDTypeCount> tables;
  Table& table = tables[static_cast<std::size_t>(dtype)];
  std::call_once(table.made, [&] { make(dtype, table); });
  return table;
}

}  // namespace

std::span<const std::byte> normal_table(DType dtype) {
  return table_of(dtype).elements;
}

std::span<const std::complex<double>> normal_values(DType dtype) {
  return table_of(dtype).values;
}

}  // namespace tunedops
