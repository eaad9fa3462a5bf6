#include "core/solvers/readers.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/kernel/kernel.hpp"
#include "core/loss/loss.hpp"
#include "core/problem/one_class.hpp"

namespace margin {

namespace {

std::string_view kernel_of(const Options& options) {
  return options.kernel.empty() ? std::string_view("linear") : std::string_view(options.kernel);
}

/// Options that ask for a feature: they are read by the solvers that take it.
constexpr std::pair<std::string_view, unsigned> asking[] = {{"l1_ratio", feature::l1_ratio},
                                                            {"positive", feature::bounds},
                                                            {"bounds", feature::bounds},
                                                            {"monotone", feature::bounds},
                                                            {"constraints", feature::constraints},
                                                            {"fairness", feature::constraints},
                                                            {"penalty_factor", feature::penalty_factor},
                                                            {"offset_feature", feature::offset}};

/// What a solver's record says of an option, those that are fields of their own included.
bool names(const SolverRecord& record, std::string_view option) {
  if (option == "kernel") return record.kernels;
  if (option == "loss") return record.losses == SolverRecord::Losses::exponential_or_logistic;
  for (const auto& [name, bit] : asking)
    if (option == name) return (record.features & bit) != 0;
  return record.reads(option);
}

std::vector<std::string_view> solvers_that_read(std::string_view option) {
  std::vector<std::string_view> out;
  for (const Solver* solver : registered_solvers()) {
    const SolverRecord& record = solver->record();
    const std::string_view name = record.variant_of.empty() ? record.name : record.variant_of;
    if (names(record, option) && std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
  }
  return out;
}

std::vector<std::string_view> losses_that_read(std::string_view option) {
  std::vector<std::string_view> out;
  for (const std::string_view loss : loss_names())
    if (loss_reads(loss, option)) out.push_back(loss);
  return out;
}

std::vector<std::string_view> kernels_that_read(std::string_view option) {
  std::vector<std::string_view> out;
  for (const std::string_view kernel : kernel_names())
    if (kernel_reads(kernel, option)) out.push_back(kernel);
  return out;
}

void append(std::string& text, std::string_view kind, const std::vector<std::string_view>& list) {
  if (list.empty()) return;
  text += text.empty() ? "" : "; ";
  if (!kind.empty()) text += std::string(kind) + (list.size() > 1 ? (kind == "loss" ? "es " : "s ") : " ");
  for (std::size_t i = 0; i < list.size(); ++i) text += (i > 0 ? ", " : "") + std::string(list[i]);
}

std::string quoted(std::string_view kind, std::string_view name) {
  return std::string(kind) + " \"" + std::string(name) + "\"";
}

/// What a user would have to change for the option to be read.
std::string who_does_not(const OptionRecord& option, const Options& options, const Solver& solver,
                         const std::vector<std::string>& losses) {
  if (option.scope == ReadBy::scans) return "a training with its rows in memory";
  if (option.scope == ReadBy::one_class) return "a training with labels";
  if (option.scope == ReadBy::penalized_intercepts)
    return options.hard_margin() ? "a hard margin"
           : options.intercept   ? "a free intercept"
                                 : "a model without intercept";
  if (!solvers_that_read(option.name).empty())
    return quoted("solver", solver.name()) + (options.solver == "auto" ? ", which auto chooses here" : "");
  if (losses_that_read(option.name).empty()) return quoted("kernel", kernel_of(options));
  if (losses.empty()) return "a hard margin";
  return losses.size() == 1 ? quoted("loss", losses.front()) : "these losses";
}

}  // namespace

std::string readers_of(const OptionRecord& option) {
  std::string text(option.readers);
  append(text, "", solvers_that_read(option.name));
  append(text, "loss", losses_that_read(option.name));
  append(text, "kernel", kernels_that_read(option.name));
  return text;
}

bool is_read(const OptionRecord& option, const Options& options, const Solver& solver,
             const std::vector<std::string>& losses) {
  if (option.scope == ReadBy::every_training) return true;
  if (option.scope == ReadBy::scans) return false;
  if (option.scope == ReadBy::one_class) return is_one_class(options);
  if (option.scope == ReadBy::penalized_intercepts)
    return options.lambda.value_or(0) > 0 && !is_one_class(options) && options.intercept && !options.free_intercept();
  if (names(solver.record(), option.name) || kernel_reads(kernel_of(options), option.name)) return true;
  return std::any_of(losses.begin(), losses.end(),
                     [&](const std::string& loss) { return loss_reads(loss, option.name); });
}

void require_readers(const Options& options, const Solver& solver, const std::vector<std::string>& losses) {
  for (const OptionRecord& option : option_records()) {
    const bool given = std::find(options.given.begin(), options.given.end(), option.name) != options.given.end();
    if (!given || is_read(option, options, solver, losses)) continue;
    throw Error(
        ErrorKind::invalid_option,
        "option \"" + std::string(option.name) + "\" is not used by " + who_does_not(option, options, solver, losses),
        "It is read by " + readers_of(option) + ".");
  }
}

std::vector<std::string> losses_of(const Options& options) {
  if (!options.loss.empty()) return {options.loss};
  return options.hard_margin() ? std::vector<std::string>{} : std::vector<std::string>{"hinge"};
}

}  // namespace margin
