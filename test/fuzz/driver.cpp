// Drives a fuzzer without libFuzzer: random and mutated inputs from a fixed seed for some seconds. An abort or a
// sanitizer's report is the failure; the input that caused it stands in fuzz_NAME.input in the working directory.
//     fuzz_NAME [SECONDS [FILE]]    10 seconds; with a FILE that input alone
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  if (argc > 2) {  // replay one input
    std::ifstream in(argv[2], std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::string program = argv[0];
  const std::string record = program.substr(program.rfind('/') + 1) + ".input";
  std::mt19937_64 random(20210701);
  std::vector<std::vector<std::uint8_t>> working_set(1);
  const auto start = std::chrono::steady_clock::now();
  std::int64_t runs = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
    std::vector<std::uint8_t> input = working_set[random() % working_set.size()];
    for (std::uint64_t edit = random() % 6; edit < 6; ++edit) {
      const std::size_t at = input.empty() ? 0 : random() % input.size();
      switch (random() % 5) {
        case 0:
          input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random()));
          break;
        case 1:
          if (!input.empty()) input.erase(input.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 2:
          if (!input.empty()) input[at] = static_cast<std::uint8_t>(random());
          break;
        case 3:
          if (!input.empty()) input[at] ^= static_cast<std::uint8_t>(1u << (random() % 8));
          break;
        default:
          for (std::uint64_t k = random() % 64; k > 0; --k) input.push_back(static_cast<std::uint8_t>(random()));
      }
    }
    if (input.size() > 600) input.resize(600);
    std::ofstream(record, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    LLVMFuzzerTestOneInput(input.data(), input.size());
    ++runs;
    if (working_set.size() < 256)
      working_set.push_back(std::move(input));
    else
      working_set[random() % working_set.size()] = std::move(input);
  }
  std::remove(record.c_str());
  std::printf("%lld inputs\n", static_cast<long long>(runs));
  return runs > 100 ? 0 : 1;
}
