// Our own core without PostgreSQL: train() with the rows in memory. Input lines: NAME=VALUE... (options; text and
// numbers); answers: seconds and the certificate. Serves the sets that have no SQL input type, and profilers. Two words
// are no options: scans=ROWS trains by scans from a sample of so many rows, whose number `iterations` then is, and
// range=WIDTH makes a target y the range y ± WIDTH.
#include <memory_resource>
#include <optional>

#include "core/base/error.hpp"
#include "core/scans/train_scans.hpp"
#include "core/train/train.hpp"
#include "peers.hpp"

namespace {

margin::Value::Object options(const std::string& line) {
  margin::Value::Object out;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t at = word.find('=');
    const std::string name = word.substr(0, at), text = word.substr(at + 1);
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text == "true" || text == "false")
      out[name].data = text == "true";
    else if (end != text.c_str() && *end == '\0')
      out[name].data = number;
    else
      out[name].data = text;
  }
  return out;
}

/// Takes a number out of the options.
std::optional<double> take(margin::Value::Object& from, const std::string& name) {
  const auto found = from.find(name);
  if (found == from.end()) return std::nullopt;
  const double number = std::get<double>(found->second.data);
  from.erase(found);
  return number;
}

void load(const bench::Data& from, margin::Dataset& to, double range) {
  const bool classes = to.outcome() == margin::Dataset::Outcome::classes;
  std::vector<float> narrow(from.values.begin(), from.values.end());
  for (std::int64_t i = 0; i < from.rows; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "%g", from.y[i]);
    const margin::Label outcome = classes     ? margin::Label(to.classes().intern(name, from.y[i]))
                                  : range > 0 ? margin::Label(from.y[i] - range, from.y[i] + range)
                                              : margin::Label(from.y[i]);
    const auto width = static_cast<std::int32_t>(from.width);
    if (from.sparse) {
      const auto count = static_cast<std::int32_t>(from.starts[i + 1] - from.starts[i]);
      if (from.wide)
        to.append(margin::sparse_row(&from.columns[from.starts[i]], &from.values[from.starts[i]], count, width),
                  outcome);
      else
        to.append(margin::sparse_row(&from.columns[from.starts[i]], &narrow[from.starts[i]], count, width), outcome);
    } else if (from.wide) {
      to.append(margin::dense_row(&from.values[i * from.width], width), outcome);
    } else {
      to.append(margin::dense_row(&narrow[i * from.width], width), outcome);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: peer_core FILE\n");
    return 2;
  }
  const bench::Data data = bench::read_data(argv[1]);
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      margin::Value::Object given = options(line);
      const std::optional<double> sample = take(given, "scans"), range = take(given, "range");
      margin::Options settings = margin::parse_options(given);
      if (sample) settings.sample_rows = static_cast<std::int64_t>(*sample);
      std::pmr::monotonic_buffer_resource memory;  // a Dataset leaves its memory to its resource
      margin::Dataset rows(margin::outcome_of(settings), &memory);
      load(data, rows, range.value_or(0));
      margin::MemorySource source(rows);
      margin::Progress progress;
      const bench::Stopwatch watch;
      const margin::Model model =
          sample ? margin::train_scans(source, settings, progress) : margin::train(rows, settings, progress);
      bench::Answer()
          .number("cpu", watch.cpu())
          .number("wall", watch.wall())
          .number("lower", model.certificate.lower)
          .number("upper", model.certificate.upper)
          .number("gap", model.certificate.relative_gap)
          .number("iterations", static_cast<double>(*model.iterations))
          .number("errors", static_cast<double>(model.certificate.errors))
          .number("status", static_cast<double>(*model.status))
          .send();
    } catch (const margin::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }
}
