// Results for Python: of the file, of the personal cache and of the database.

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ops/context.h"
#include "python/bindings.h"
#include "tuning/row_fields.h"

namespace tunedops {
namespace {

// op, params, solution, time_ms, default_ms, won by this process, timing,
// samples, spread, margin, date
using PythonResult =
    std::tuple<std::string, std::string, std::string, std::optional<double>,
               std::optional<double>, bool, std::optional<std::string>,
               std::optional<int>, std::optional<double>, std::optional<double>,
               std::optional<std::string>>;

PythonResult to_python(const CsvRow& row) {
  return {row.key.op,       row.key.params, row.solution, row.time_ms(),
          row.default_ms(), row.won_here,   row.timing(), row.samples(),
          row.spread(),     row.margin(),   row.date()};
}

// Validators, rows, and what was not understood as `line: text`.
using PythonDocument =
    std::tuple<std::map<std::string, std::string>, std::vector<PythonResult>,
               std::vector<std::string>>;

PythonDocument parse_results_text(const std::string& text) {
  const CsvDocument document = parse_results(text);
  PythonDocument parsed;
  auto& [validators, rows, complaints] = parsed;
  validators = document.validators.entries();
  for (const CsvRow& row : document.rows) {
    rows.push_back(to_python(row));
  }
  for (const CsvDocument::Complaint& complaint : document.complaints) {
    complaints.push_back(std::to_string(complaint.line) + ": " +
                         complaint.text);
  }
  return parsed;
}

// op, params, solution, and of the fields behind it those that are known
using PythonRow =
    std::tuple<std::string, std::string, std::string, std::optional<double>,
               std::optional<double>, std::optional<std::string>,
               std::optional<int>, std::optional<double>, std::optional<double>,
               std::optional<std::string>>;

CsvRow row_from(const PythonRow& given) {
  const auto& [op, params, solution, time_ms, default_ms, timing, samples,
               spread, margin, date] = given;
  CsvRow row;
  row.key = {op, params};
  row.solution = solution;
  for (const std::string& text : {op, params, solution}) {
    if (!is_csv_field(text)) {
      throw std::invalid_argument("a row of a results file cannot hold '" +
                                  text + "'");
    }
  }
  const std::array fields{
      time_ms ? format_milliseconds(*time_ms) : std::string(),
      default_ms ? format_milliseconds(*default_ms) : std::string(),
      timing.value_or(""),
      samples ? std::to_string(*samples) : std::string(),
      spread ? format_share(*spread) : std::string(),
      margin ? format_share(*margin) : std::string(),
      date.value_or("")};
  for (const std::string& field : fields) {
    if (!is_csv_field(field)) {
      break;  // a field is known by its place, so the first that lacks ends it
    }
    row.extra.push_back(field);
  }
  return row;
}

std::string
format_results_text(const std::map<std::string, std::string>& validators,
                    const std::vector<PythonRow>& rows) {
  CsvDocument document;
  for (const auto& [key, value] : validators) {
    document.validators.add(key, value);
  }
  for (const PythonRow& row : rows) {
    document.rows.push_back(row_from(row));
  }
  return format_results(document);
}

// tier, place, solution, why it is not used, time_ms, default_ms
using PythonAnswer =
    std::tuple<std::string, std::string, std::string, std::string,
               std::optional<double>, std::optional<double>>;

// Who decides, what runs, what is to be said of it, what each tier says, and
// why kernels refuse.
using PythonExplanation =
    std::tuple<std::string, std::string, std::string, std::vector<PythonAnswer>,
               std::vector<std::pair<std::string, std::string>>>;

PythonExplanation explain(const PythonDevice& device, const std::string& op,
                          const std::string& params) {
  const Explanation told =
      getTuningContext().explain(problem_from(device, op, params));
  std::vector<PythonAnswer> answers;
  for (const TierAnswer& a : told.tiers) {
    answers.emplace_back(a.tier, a.place, a.solution, a.refused, a.time_ms,
                         a.default_ms);
  }
  return {told.decided_by, told.solution, told.note, answers, told.kernels};
}

std::string save_to_cache(const PythonDevice& device,
                          const std::vector<PythonRow>& given) {
  std::vector<CsvRow> rows;
  for (const PythonRow& row : given) {
    rows.push_back(row_from(row));
  }
  return getTuningContext().save_to_cache(device_from(device), std::move(rows));
}

std::optional<PythonResult> to_python(const std::optional<CsvRow>& row) {
  return row ? std::make_optional(to_python(*row)) : std::nullopt;
}

void bind_rows(py::module_& m) {
  def(
      m, "stored",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params) {
        return to_python(
            getTuningContext().stored(problem_from(device, op, params)));
      });
  def(
      m, "stored_anywhere",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params) {
        return to_python(getTuningContext().stored_anywhere(
            problem_from(device, op, params)));
      });
  def(m, "explain", &explain);
  def(m, "save_to_cache", &save_to_cache);
  def(
      m, "cached", +[](const PythonDevice& device) {
        std::vector<PythonResult> all;
        for (const CsvRow& row :
             getTuningContext().cached(device_from(device))) {
          all.push_back(to_python(row));
        }
        return all;
      });
  def(
      m, "cache_filename", +[](const PythonDevice& device) {
        return getTuningContext().cache_filename(device_from(device));
      });
  def(
      m, "clear_cache", +[](const PythonDevice& device) {
        getTuningContext().clear_cache(device_from(device));
      });
  def(m, "set_packaged_databases", &set_packaged_databases);
}

}  // namespace

ProblemKey problem_from(const PythonDevice& device, const std::string& op,
                        const std::string& params) {
  const auto problem =
      getTuningContext().parse_key({op, params}, device_from(device));
  if (!problem) {
    throw std::invalid_argument("'" + op + ',' + params +
                                "' is not a problem of device " + device.first);
  }
  return *problem;
}

void bind_results(py::module_& m) {
  def(
      m, "set_filename", +[](const std::string& name, bool insert_ordinal) {
        getTuningContext().set_filename(name, insert_ordinal);
      });
  def(
      m, "filename", +[](const PythonDevice& device) {
        return getTuningContext().filename(device_from(device));
      });
  def(
      m, "read_file",
      +[](const PythonDevice& device, const std::optional<std::string>& path) {
        return getTuningContext().read_file(device_from(device), path);
      });
  def(m, "write_file", +[] { return getTuningContext().write_file(); });
  def(
      m, "write_file_to",
      +[](const PythonDevice& device, const std::string& path) {
        return getTuningContext().write_file(device_from(device), path);
      });
  def(
      m, "write_file_on_exit",
      +[](bool value) { getTuningContext().set_write_file_on_exit(value); });
  def(m, "on_exit", +[] { getTuningContext().on_exit(); });
  def(
      m, "results", +[](const PythonDevice& device) {
        std::vector<PythonResult> all;
        for (const CsvRow& row :
             getTuningContext().results(device_from(device))) {
          all.push_back(to_python(row));
        }
        return all;
      });
  def(
      m, "validators", +[](const PythonDevice& device) {
        return getTuningContext().validators(device_from(device)).entries();
      });
  def(
      m, "erase",
      +[](const PythonDevice& device, const std::string& op,
          const std::string& params) {
        return getTuningContext().erase(device_from(device), {op, params});
      });
  def(m, "clear", +[] { getTuningContext().clear(); });
  def(m, "parse_results", &parse_results_text);
  def(m, "format_results", &format_results_text);
  def(
      m, "check_file",
      +[](const PythonDevice& device, const std::string& path) {
        return getTuningContext().check_file(device_from(device), path);
      });
  bind_rows(m);
}

}  // namespace tunedops
