#include "pg/server/spill.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/huge_pages.hpp"
#include "core/base/memory_limit.hpp"
#include "pg/server/interrupts.hpp"
#include "pg/server/linked.hpp"
#include "pg/server/memory.hpp"

extern "C" {
#include <commands/tablespace.h>
#include <storage/fd.h>
#include <utils/resowner.h>
#include <utils/wait_event.h>
}

namespace margin::pg {

namespace {

// Addresses are taken in large pieces, so that neighbouring blocks are one mapping to the kernel, which allows a process
// some 65,000.
constexpr std::size_t reserved_at_once = std::size_t{256} << 20;

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::size_t whole_pages(std::size_t bytes) { return (bytes + page_size() - 1) / page_size() * page_size(); }

/// Linux keeps pages together that were written together, and a visit to one of them brings in all. More make passes
/// quicker, up to what a huge page holds; fewer keep memory small where rows far from each other are visited.
std::size_t written_at_once(std::size_t resident) {
  return whole_pages(std::clamp<std::size_t>(resident / 64, 65536, 2097152));
}

/// Pages that were brought in so far, less those that come along with them.
long page_faults() {
  rusage usage;
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : 0;
}

/// Pages of files and shared memory that are resident; negative where the system does not tell.
double shared_pages() {
  const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char text[128];
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return -1;
  text[n] = '\0';
  long long size, resident, shared;
  return sscanf(text, "%lld %lld %lld", &size, &resident, &shared) == 3 ? static_cast<double>(shared) : -1;
}

}  // namespace

/// An open temporary file and its mapping. Lives in a memory context, whose reset closes the file, unless the resource
/// owner that the file belongs to went first, as it does when a transaction is aborted.
class SpillFile : public Linked<SpillFile> {
 public:
  explicit SpillFile(std::size_t resident) : resident_(resident), written_at_once_(written_at_once(resident)) {
    static const bool registered = [] {
      backend([] { RegisterResourceReleaseCallback(&SpillFile::owner_goes, nullptr); });
      return true;
    }();
    (void)registered;
  }
  ~SpillFile() {
    for (const Piece& p : pieces_) munmap(p.at, p.size);
    if (file_ >= 0) FileClose(file_);  // logs at most
  }

  char* allocate(std::size_t bytes);
  void release(char* at, std::size_t bytes) noexcept;
  static void trim();

 private:
  /// Addresses, of which the first `used` bytes belong to the file from `offset` on.
  struct Piece {
    char* at;
    std::size_t size, used;
    off_t offset;
  };
  struct Range {
    char* at;
    std::size_t size;
  };

  static void owner_goes(ResourceReleasePhase phase, bool, bool, void*);
  void open_file();
  void write_open_block();
  char* reserve(std::size_t size);
  void trim_pages() const;

  static double untrimmed;  // shared_pages() after the last trim
  static long looked_at;    // page_faults() when they were last counted

  const std::size_t resident_, written_at_once_;
  File file_ = -1;
  ResourceOwner owner_ = nullptr;
  std::vector<Piece> pieces_;
  std::vector<Range> unused_;  // has room for every block
  std::size_t blocks_ = 0;
  Range open_{nullptr, 0};  // memory that the file does not have yet
};

double SpillFile::untrimmed = -1;
long SpillFile::looked_at = 0;

// Before the server closes the owner's files; who reads the rows can go on, as the mapping remains.
void SpillFile::owner_goes(ResourceReleasePhase phase, bool, bool, void*) {
  if (phase != RESOURCE_RELEASE_BEFORE_LOCKS) return;
  for (SpillFile* f = first(); f != nullptr; f = f->next())
    if (f->owner_ == CurrentResourceOwner) f->file_ = -1;
}

void SpillFile::open_file() {
  if (owner_ != nullptr) throw Error(ErrorKind::unsupported, "the transaction that collected the rows has ended");
  file_ = backend([] {
    PrepareTempTablespaces();
    return OpenTemporaryFile(false);
  });
  owner_ = CurrentResourceOwner;
  untrimmed = shared_pages();
}

// The data are written, not stored through a mapping: a full disk and temp_file_limit are then errors of this call, and
// the pages that take the block's place have nothing to write back.
void SpillFile::write_open_block() {
  if (open_.at == nullptr) return;
  if (file_ < 0) open_file();
  const Range block = open_;
  const auto piece = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const Piece& p) { return block.at >= p.at && block.at < p.at + p.size; });
  const off_t offset = piece->offset + (block.at - piece->at);
  const File file = file_;
  const std::size_t at_once = written_at_once_;
  backend([=] {
    for (std::size_t done = 0; done < block.size; done += at_once) {
      const auto n = static_cast<int>(std::min(at_once, block.size - done));
      errno = 0;
      if (FileWrite(file, block.at + done, n, offset + static_cast<off_t>(done), WAIT_EVENT_BUFFILE_WRITE) == n)
        continue;
      if (errno == 0) errno = ENOSPC;
      raise_file_error("write to", FilePathName(file));
    }
    if (mmap(block.at, block.size, PROT_READ, MAP_SHARED | MAP_FIXED, FileGetRawDesc(file), offset) == MAP_FAILED)
      raise_file_error("map", FilePathName(file));
  });
  open_ = {nullptr, 0};
}

char* SpillFile::reserve(std::size_t size) {
  for (std::size_t k = 0; k < unused_.size(); ++k)
    if (unused_[k].size == size) {
      char* const at = unused_[k].at;
      unused_[k] = unused_.back();
      unused_.pop_back();
      return at;
    }
  if (pieces_.empty() || pieces_.back().used + size > pieces_.back().size) {
    const std::size_t reserved = std::max(size, reserved_at_once);
    const off_t offset = pieces_.empty() ? 0 : pieces_.back().offset + static_cast<off_t>(pieces_.back().used);
    pieces_.reserve(pieces_.size() + 1);
    void* const at = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    pieces_.push_back({static_cast<char*>(at), reserved, 0, offset});
  }
  unused_.reserve(++blocks_);  // release() must not fail
  Piece& piece = pieces_.back();
  char* const at = piece.at + piece.used;
  piece.used += size;
  return at;
}

char* SpillFile::allocate(std::size_t bytes) {
  InterruptProgress().poll();
  write_open_block();
  const std::size_t size = whole_pages(bytes);
  if (size > MaxAllocHugeSize || size > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::bad_alloc();
  char* const at = reserve(size);
  if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    throw std::bad_alloc();
  prefer_huge_pages(at, size);
  open_ = {at, size};
  return at;
}

void SpillFile::release(char* at, std::size_t bytes) noexcept {
  const std::size_t size = whole_pages(bytes);
  if (open_.at == at) open_ = {nullptr, 0};
  mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  unused_.push_back({at, size});
}

// Faults are quick to count, and tell when it is time to look.
void SpillFile::trim() {
  if (first() == nullptr) return;
  constexpr double largest_fault = 2097152;  // the kernel maps the pages around the one that is asked for
  const auto allowed = static_cast<double>(first()->resident_);
  const long faults = page_faults();
  if (static_cast<double>(faults - looked_at) * largest_fault < allowed / 4) return;
  looked_at = faults;
  const double pages = shared_pages();
  if (pages < 0) return;  // the kernel takes pages of files when it needs them
  untrimmed = std::min(untrimmed, pages);
  if ((pages - untrimmed) * static_cast<double>(page_size()) <= allowed) return;
  for (const SpillFile* f = first(); f != nullptr; f = f->next()) f->trim_pages();
  untrimmed = shared_pages();
}

// Not the block that is being filled: it is in no file.
void SpillFile::trim_pages() const {
  const auto drop = [](char* from, char* to) {
    if (from < to) madvise(from, static_cast<std::size_t>(to - from), MADV_DONTNEED);
  };
  for (const Piece& p : pieces_) {
    char* const end = p.at + p.used;
    if (open_.at == nullptr || open_.at < p.at || open_.at >= end) {
      drop(p.at, end);
    } else {
      drop(p.at, open_.at);
      drop(open_.at + open_.size, end);
    }
  }
}

namespace {

// Half: a solver then finds at least as much room as beside the most rows that stay in memory. Less than the smallest
// share is not worth a file.
constexpr std::size_t smallest_share = 65536, largest_block = std::size_t{4} << 20;

std::size_t share_of(double limit) { return std::max(smallest_share, static_cast<std::size_t>(limit / 2)); }

std::size_t block_of(double limit) {
  return whole_pages(std::clamp<std::size_t>(share_of(limit) / 16, smallest_share, largest_block));
}

}  // namespace

SpillStore::SpillStore(MemoryContext context, double limit)
    : BlockStore(share_of(limit), block_of(limit)), context_(context), resident_(static_cast<std::size_t>(limit / 4)) {}

char* SpillStore::allocate(std::size_t bytes) {
  if (file_ == nullptr) file_ = create_in<SpillFile>(context_, resident_);
  return file_->allocate(bytes);
}

void SpillStore::release(char* at, std::size_t bytes) noexcept { file_->release(at, bytes); }

void trim_spilled_rows() { SpillFile::trim(); }

void notice_of_spill(const Dataset& data) {
  if (!data.spilled()) return;
  const std::string rows = size_text(static_cast<double>(data.feature_bytes()), true);
  const std::string limit = size_text(memory_limit(), false);
  const char *size = rows.c_str(), *most = limit.c_str();
  backend([=] {
    ereport(NOTICE, (errmsg("margin: %s of rows are in a temporary file, as margin.memory_limit is %s", size, most)));
  });
}

}  // namespace margin::pg
