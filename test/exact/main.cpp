// Trains small random problems that are hard on floating point and holds every certificate against exact numbers: the
// value of the returned vectors, and where it can be found the exact optimum. Then the same for vectors that no solver
// would return, because a certificate holds for any.
//
//   margin_exact [PROBLEMS [SEED [PRODUCTS [JOBS]]]]   one TAP line per family; a false claim is printed with SQL that shows it
//   margin_exact -1 SEED                         one problem in words
//   margin_exact product FAMILY SEED [COUNT]     the same of what is claimed beyond a training's certificate; COUNT of them
//   margin_exact family FAMILY SEED COUNT        COUNT problems of a family of either kind, up to one of which a claim is false
//
// A FAMILY of trainings may be the beginning of its name: "kernel" are all kernels, "base" all but hard margins and kernels.
// PRODUCTS problems of those (products.hpp), shared out among their families; both among JOBS processes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "checks.hpp"
#include "core/base/error.hpp"
#include "core/train/train.hpp"
#include "products.hpp"

namespace {

using exact::Vectors;

struct Count {
  long problems = 0, refused = 0, certificates = 0, optima = 0, optimal = 0, wrong = 0, missing = 0;

  void add(const Count& o) {
    problems += o.problems, refused += o.refused, certificates += o.certificates, optima += o.optima;
    optimal += o.optimal, wrong += o.wrong, missing += o.missing;
  }
};

/// Other vectors of the same shape: scaled, perturbed, tiny, huge, not even numbers.
Vectors forged(const Vectors& v, margin::Random& random) {
  Vectors f = v;
  const std::uint32_t how = random.below(6);
  const auto change = [&](double& value, bool dual) {
    if (random.below(3) == 0) return;
    if (how == 0) value *= 1 + (random.uniform() - 0.5) * 1e-8;
    if (how == 1) value = exact::any_number(random, -3, 3);
    if (how == 2) value = exact::any_number(random, -324, -290);
    if (how == 3) value = exact::any_number(random, -150, 150);
    if (how == 4) value = exact::any_number(random, 150, 308);
    if (how == 5) value = dual && random.below(4) == 0 ? (random.below(2) == 0 ? NAN : INFINITY) : value * 0x1p-600;
    if (!dual && !std::isfinite(value)) value = 1e308;
  };
  for (Eigen::Index i = 0; i < f.weights.size(); ++i)
    if (how != 5) change(f.weights.data()[i], false);
  for (Eigen::Index i = 0; i < f.intercept.size(); ++i) change(f.intercept.data()[i], false);
  for (Eigen::Index i = 0; i < f.dual.size(); ++i) change(f.dual.data()[i], true);
  return f;
}

void report(const exact::Case& c, std::uint64_t seed, const std::string& what, Count& count) {
  ++count.wrong;
  if (count.wrong <= 3) {
    std::printf("# %s, seed %llu: %s\n", c.family.c_str(), static_cast<unsigned long long>(seed), what.c_str());
    if (count.wrong == 1) std::printf("#   %s\n", exact::reproducer(c).c_str());
  }
}

void run(const exact::Case& c, std::uint64_t seed, Count& count, bool verbose) {
  ++count.problems;
  if (verbose) std::printf("# %s\n", exact::reproducer(c).c_str());
  try {
    const margin::Options settings = margin::parse_options(c.options);
    const exact::Rows rows(c, settings);
    margin::Progress progress;
    const margin::Model model = margin::train(rows.data(), settings, progress);
    const margin::Problem p = margin::make_problem(rows.data(), settings);
    Vectors v{model.weights, model.intercept, *model.dual_weights, model.basis};
    for (double& b : v.intercept) b -= p.target_center;  // the problem's intercept; 0 but for regressions
    if (!v.weights.allFinite() || !v.intercept.allFinite()) report(c, seed, "weights are no numbers", count);
    exact::Findings f = exact::check(p, settings, v, model.certificate, true);
    ++count.certificates;
    count.optima += f.optimum;
    count.optimal += model.status == margin::Status::optimal;
    if (model.status == margin::Status::optimal && !p.interpolate &&
        !(model.certificate.relative_gap <= settings.tolerance) &&
        !(model.certificate.upper <= model.certificate.negligible))
      f.wrong.push_back("optimal with a wider interval than the tolerance");
    for (const std::string& what : f.wrong) report(c, seed, what, count);
    ++count.certificates;
    for (const std::string& what : exact::check(p, settings, v, exact::verified(p, v), true).wrong)
      report(c, seed, "verified: " + what, count);
    if (verbose)
      std::printf("# status %s, [%.17g, %.17g]\n", std::string(margin::status_name(*model.status)).c_str(),
                  model.certificate.lower, model.certificate.upper);
    margin::Random random(seed ^ 0x5eed);
    for (int again = 0; again < 2; ++again) {
      const Vectors other = forged(v, random);
      const margin::Certificate certificate = exact::certificate_of(p, other);
      ++count.certificates;
      for (const std::string& what : exact::check(p, settings, other, certificate, false).wrong)
        report(c, seed, "forged vectors: " + what, count);
    }
  } catch (const margin::Error& error) {
    ++count.refused;
    if (verbose || std::getenv("EXACT_VERBOSE") != nullptr) std::printf("# refused: %s\n", error.message().c_str());
  } catch (const std::exception& error) {
    report(c, seed, std::string("an exception: ") + error.what(), count);
  }
}

/// One problem of a family beyond the certificates.
void run(const exact::Family& family, std::uint64_t seed, Count& count, bool verbose) {
  ++count.problems;
  const exact::Precision precision(640);  // of what is compared: far beyond what claims are about
  exact::Case c;
  exact::Claims claims;
  margin::Random random(seed);
  c.family = family.name;
  try {
    family.run(random, c, claims);
  } catch (const margin::Error& error) {
    ++count.refused;
    if (verbose || std::getenv("EXACT_VERBOSE") != nullptr)
      std::printf("# %s, refused: %s\n", family.name, error.message().c_str());
  } catch (const std::exception& error) {
    claims.wrong.push_back(std::string("an exception: ") + error.what());
  }
  count.certificates += claims.made;
  count.optima += claims.optima;
  count.missing += claims.missing;
  if (verbose) std::printf("# %s\n# %ld claims\n", exact::reproducer(c).c_str(), claims.made);
  if (!claims.wrong.empty()) {
    report(c, seed, claims.wrong.front(), count);
    for (std::size_t k = 1; verbose && k < claims.wrong.size(); ++k) std::printf("#   %s\n", claims.wrong[k].c_str());
  }
}

/// Whether a training's family is one of those.
bool belongs(const std::string& family, const std::string& to) {
  if (to != "base") return family.compare(0, to.size(), to) == 0;
  return !belongs(family, "hard margin") && !belongs(family, "kernel");
}

/// The first problems of a family, until a claim is false.
int one_family(const std::string& name, std::uint64_t seed, long most) {
  Count count;
  const exact::Family* product = nullptr;
  for (const exact::Family& family : exact::families())
    if (name == family.name) product = &family;
  // A name that no training has ends the search.
  for (long i = 0; count.wrong == 0 && count.problems < most && i < 1000 + 100 * most; ++i) {
    const std::uint64_t number = seed * 1000000 + static_cast<std::uint64_t>(i);
    if (product != nullptr) {
      run(*product, number, count, false);
      continue;
    }
    const exact::Case c = name == exact::coded_family ? exact::make_coded_case(number) : exact::make_case(number);
    if (belongs(c.family, name)) run(c, number, count, false);
  }
  std::printf("%ld problems, %ld claims, %ld wrong\n", count.problems, count.certificates, count.wrong);
  return count.problems > 0 && count.certificates > 0 && count.wrong == 0 ? 0 : 1;
}

/// One in `parts` of all problems, from this one on.
struct Part {
  long part, parts, problems, more;
  std::uint64_t seed;
};

void try_part(const Part& p, std::map<std::string, Count>& counts, std::vector<Count>& products) {
  for (long i = p.part; i < p.problems; i += p.parts) {
    const std::uint64_t number = p.seed * 1000000 + static_cast<std::uint64_t>(i);
    const exact::Case c = exact::make_case(number);
    run(c, number, counts[c.family], false);
    if (i % 10 == 0) run(exact::make_coded_case(number), number, counts[exact::coded_family], false);
  }
  for (long i = p.part; i < p.more; i += p.parts) {
    const std::size_t k = static_cast<std::size_t>(i) % products.size();
    run(exact::families()[k], p.seed * 1000000 + static_cast<std::uint64_t>(i), products[k], false);
  }
}

/// A part in a process of its own, which says through a pipe what it counted.
[[noreturn]] void report_part(const Part& p, int to, std::map<std::string, Count>& counts,
                              std::vector<Count>& products) {
  try_part(p, counts, products);
  std::FILE* const out = fdopen(to, "w");
  const auto say = [&](const std::string& name, const Count& c) {
    std::fprintf(out, "%s\t%ld %ld %ld %ld %ld %ld %ld\n", name.c_str(), c.problems, c.refused, c.certificates,
                 c.optima, c.optimal, c.wrong, c.missing);
  };
  for (const auto& [family, count] : counts) say(family, count);
  for (std::size_t k = 0; k < products.size(); ++k) say(std::to_string(k), products[k]);
  std::fclose(out);
  std::fflush(stdout);
  _exit(0);
}

/// All problems, shared out among processes; one that dies counts as wrong. A single one is this process: WebAssembly has no other.
void share_out(Part all, std::map<std::string, Count>& counts, std::vector<Count>& products) {
  if (all.parts <= 1) return try_part(all, counts, products);
  std::vector<std::pair<int, pid_t>> processes;  // the end of a pipe, a process
  std::fflush(stdout);
  for (all.part = 0; all.part < all.parts; ++all.part) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t process = fork();
    if (process < 0) std::abort();
    if (process == 0) report_part(all, ends[1], counts, products);
    close(ends[1]);
    processes.emplace_back(ends[0], process);
  }
  for (const auto& [end, process] : processes) {
    std::FILE* const in = fdopen(end, "r");
    char name[256];
    Count c;
    while (std::fscanf(in, "%255[^\t]\t%ld %ld %ld %ld %ld %ld %ld\n", name, &c.problems, &c.refused, &c.certificates,
                       &c.optima, &c.optimal, &c.wrong, &c.missing) == 8) {
      const bool product = name[0] >= '0' && name[0] <= '9';
      (product ? products[std::strtoul(name, nullptr, 10)] : counts[name]).add(c);
    }
    std::fclose(in);
    int status = 0;
    if (waitpid(process, &status, 0) != process || status != 0) ++counts["a process that died"].wrong;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 5 && std::string(argv[1]) == "family")
    return one_family(argv[2], std::strtoull(argv[3], nullptr, 10), std::atol(argv[4]));
  if ((argc == 4 || argc == 5) && std::string(argv[1]) == "product") {
    Count count;
    const std::uint64_t first = std::strtoull(argv[3], nullptr, 10),
                        more = argc == 5 ? std::strtoull(argv[4], nullptr, 10) : 1;
    for (const exact::Family& family : exact::families())
      for (std::uint64_t k = 0; k < more && std::string(argv[2]) == family.name; ++k)
        run(family, first + k, count, argc == 4);
    std::printf("%ld problems, %ld refused, %ld claims, %ld exact optima, %ld not found, %ld wrong\n", count.problems,
                count.refused, count.certificates, count.optima, count.missing, count.wrong);
    return count.problems > 0 && count.wrong == 0 ? 0 : 1;
  }
  const long problems = argc > 1 ? std::atol(argv[1]) : 5000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::map<std::string, Count> counts;
  if (problems < 0) {
    const exact::Case c = exact::make_case(seed);
    run(c, seed, counts[c.family], true);
  }
  std::vector<Count> products(exact::families().size());
  const long more = argc > 3 ? std::atol(argv[3]) : 0, parts = argc > 4 ? std::max(1L, std::atol(argv[4])) : 1;
  share_out({0, parts, problems, more, seed}, counts, products);
  Count all;
  int line = 0;
  for (const auto& [family, count] : counts) {
    std::printf("%sok %d - %s: %ld problems, %ld refused, %ld optimal, %ld certificates, %ld exact optima, %ld wrong\n",
                count.wrong > 0 ? "not " : "", ++line, family.c_str(), count.problems, count.refused, count.optimal,
                count.certificates, count.optima, count.wrong);
    all.problems += count.problems;
    all.certificates += count.certificates;
    all.optima += count.optima;
    all.wrong += count.wrong;
  }
  for (std::size_t k = 0; k < products.size() && products[0].problems > 0; ++k) {
    const Count& count = products[k];
    // A family that compares nothing proves nothing.
    const bool good = count.wrong == 0 && count.certificates > 0 && count.optima > 0;
    std::printf("%sok %d - %s: %ld problems, %ld refused, %ld claims, %ld exact optima, %ld not found, %ld wrong\n",
                good ? "" : "not ", ++line, exact::families()[k].name, count.problems, count.refused,
                count.certificates, count.optima, count.missing, count.wrong);
    all.problems += count.problems;
    all.certificates += count.certificates;
    all.optima += count.optima;
    all.wrong += good ? count.wrong : std::max(1L, count.wrong);
  }
  std::printf("1..%d\nchecks: %ld problems, %ld certificates, %ld exact optima, %ld wrong\n", line, all.problems,
              all.certificates, all.optima, all.wrong);
  return all.wrong > 0 ? 1 : 0;
}
