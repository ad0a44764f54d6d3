// SPDX-License-Identifier: Apache-2.0
// The user interface of the mainline `rocket` driver: request codes, argument structures, flags.
// Facts of kernel-interfaces A.2, A.3 and B; every value of its Part H is asserted here. All
// integers are little-endian, pointers travel as u64, times are absolute CLOCK_MONOTONIC
// nanoseconds. Structures are zeroed by default; a reserved field must stay zero.
#ifndef SRC_UAPI_ROCKET_H_
#define SRC_UAPI_ROCKET_H_

#include <cstddef>
#include <cstdint>

namespace npu::uapi {

// --- arguments of the generic DRM ioctls -----------------------------------------------------

// Lengths are in: capacity of the buffer, out: length of the whole text, which has no final NUL.
struct DrmVersion {
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch = 0;
  uint64_t name_len = 0;
  uint64_t name = 0;
  uint64_t date_len = 0;
  uint64_t date = 0;
  uint64_t desc_len = 0;
  uint64_t desc = 0;
};

struct DrmUnique {
  uint64_t unique_len = 0;
  uint64_t unique = 0;
};

struct DrmGemClose {
  uint32_t handle = 0;
  uint32_t pad = 0;
};

struct DrmGemFlink {
  uint32_t handle = 0;
  uint32_t name = 0;
};

struct DrmGetCap {
  uint64_t capability = 0;
  uint64_t value = 0;
};

struct DrmSetClientCap {
  uint64_t capability = 0;
  uint64_t value = 0;
};

struct DrmPrimeHandle {
  uint32_t handle = 0;
  uint32_t flags = 0;  // of the new descriptor: O_CLOEXEC, O_RDWR
  int32_t fd = 0;
};

// --- arguments of the driver's ioctls --------------------------------------------------------

struct RocketCreateBo {
  uint32_t size = 0;         // in: bytes, rounded up to pages inside
  uint32_t handle = 0;       // out: >= 1
  uint64_t dma_address = 0;  // out: IOVA in this file's address space; 0 is a valid address
  uint64_t offset = 0;       // out: for mmap, >= 4 GiB
};

struct RocketPrepBo {
  uint32_t handle = 0;
  uint32_t reserved = 0;
  int64_t timeout_ns = 0;  // absolute deadline; 0, negative or past: poll
};

struct RocketFiniBo {
  uint32_t handle = 0;
  uint32_t reserved = 0;
};

struct RocketTask {
  uint32_t regcmd = 0;        // IOVA of the command list, 16-byte aligned
  uint32_t regcmd_count = 0;  // 64-bit commands, trailer included
};

// Flags of RocketJob.
inline constexpr uint32_t kRocketJobBatched = 1u << 0;    // >= 1.1: one kick for all tasks
inline constexpr uint32_t kRocketJobNoDpuDone = 1u << 1;  // >= 1.2
inline constexpr uint32_t kRocketJobPpuDone = 1u << 2;    // >= 1.3

// The first 40 bytes are mainline's structure ("v1"); flags and reserved came with 1.1. Stock
// kernels take the 48 bytes too, because job_struct_size is only the stride of the array.
struct RocketJob {
  uint64_t tasks = 0;           // pointer to task_count elements of task_struct_size bytes
  uint64_t in_bo_handles = 0;   // pointer to u32
  uint64_t out_bo_handles = 0;  // pointer to u32
  uint32_t task_count = 0;
  uint32_t task_struct_size = 0;
  uint32_t in_bo_handle_count = 0;
  uint32_t out_bo_handle_count = 0;
  uint32_t flags = 0;
  uint32_t reserved = 0;
};
inline constexpr uint32_t kRocketJobV1Bytes = 40;
inline constexpr uint32_t kRocketTaskV1Bytes = 8;

struct RocketSubmit {
  uint64_t jobs = 0;  // pointer to job_count elements of job_struct_size bytes
  uint32_t job_count = 0;
  uint32_t job_struct_size = 0;
  uint64_t reserved = 0;
};

// Bytes [offset, offset + size) of a buffer object (>= 1.5).
struct RocketBoRange {
  uint64_t offset = 0;
  uint64_t size = 0;
};
inline constexpr uint32_t kRocketMaxRanges = 1024;

struct RocketPrepBoRanges {
  uint32_t handle = 0;
  uint32_t range_count = 0;  // 0: the whole object
  uint64_t ranges = 0;       // pointer to RocketBoRange, ascending and disjoint
  int64_t timeout_ns = 0;
  uint64_t reserved = 0;
};

struct RocketFiniBoRanges {
  uint32_t handle = 0;
  uint32_t range_count = 0;
  uint64_t ranges = 0;
  uint64_t reserved = 0;
};

// --- request codes ---------------------------------------------------------------------------

enum class Direction : uint32_t { kWrite = 1, kRead = 2, kReadWrite = 3 };

inline constexpr uint32_t kDrmIoctlType = 'd';

// dir << 30 | size << 16 | type << 8 | nr, as the kernel encodes it on every architecture we run
// on.
constexpr uint32_t RequestCode(Direction direction, size_t bytes, uint32_t nr) {
  return static_cast<uint32_t>(direction) << 30 | static_cast<uint32_t>(bytes) << 16 |
         kDrmIoctlType << 8 | nr;
}
// The parts of a code. DRM dispatches by type and nr alone; the size only says how much is copied.
constexpr uint32_t RequestNr(uint32_t code) { return code & 0xFF; }
constexpr uint32_t RequestType(uint32_t code) { return code >> 8 & 0xFF; }
constexpr uint32_t RequestBytes(uint32_t code) { return code >> 16 & 0x3FFF; }

// Command numbers.
inline constexpr uint32_t kNrVersion = 0x00, kNrGetUnique = 0x01, kNrGemClose = 0x09,
                          kNrGemFlink = 0x0a, kNrGetCap = 0x0c, kNrSetClientCap = 0x0d,
                          kNrPrimeHandleToFd = 0x2d, kNrPrimeFdToHandle = 0x2e;
inline constexpr uint32_t kNrCreateBo = 0x40, kNrSubmit = 0x41, kNrPrepBo = 0x42, kNrFiniBo = 0x43,
                          kNrPrepBoRanges = 0x44, kNrFiniBoRanges = 0x45;

inline constexpr uint32_t kIoctlVersion =
    RequestCode(Direction::kReadWrite, sizeof(DrmVersion), kNrVersion);
inline constexpr uint32_t kIoctlGetUnique =
    RequestCode(Direction::kReadWrite, sizeof(DrmUnique), kNrGetUnique);
inline constexpr uint32_t kIoctlGemClose =
    RequestCode(Direction::kWrite, sizeof(DrmGemClose), kNrGemClose);
inline constexpr uint32_t kIoctlGemFlink =
    RequestCode(Direction::kReadWrite, sizeof(DrmGemFlink), kNrGemFlink);
inline constexpr uint32_t kIoctlGetCap =
    RequestCode(Direction::kReadWrite, sizeof(DrmGetCap), kNrGetCap);
inline constexpr uint32_t kIoctlSetClientCap =
    RequestCode(Direction::kWrite, sizeof(DrmSetClientCap), kNrSetClientCap);
inline constexpr uint32_t kIoctlPrimeHandleToFd =
    RequestCode(Direction::kReadWrite, sizeof(DrmPrimeHandle), kNrPrimeHandleToFd);
inline constexpr uint32_t kIoctlPrimeFdToHandle =
    RequestCode(Direction::kReadWrite, sizeof(DrmPrimeHandle), kNrPrimeFdToHandle);
inline constexpr uint32_t kIoctlCreateBo =
    RequestCode(Direction::kReadWrite, sizeof(RocketCreateBo), kNrCreateBo);
inline constexpr uint32_t kIoctlSubmit =
    RequestCode(Direction::kWrite, sizeof(RocketSubmit), kNrSubmit);
inline constexpr uint32_t kIoctlPrepBo =
    RequestCode(Direction::kWrite, sizeof(RocketPrepBo), kNrPrepBo);
inline constexpr uint32_t kIoctlFiniBo =
    RequestCode(Direction::kWrite, sizeof(RocketFiniBo), kNrFiniBo);
inline constexpr uint32_t kIoctlPrepBoRanges =
    RequestCode(Direction::kWrite, sizeof(RocketPrepBoRanges), kNrPrepBoRanges);
inline constexpr uint32_t kIoctlFiniBoRanges =
    RequestCode(Direction::kWrite, sizeof(RocketFiniBoRanges), kNrFiniBoRanges);

// --- names and capabilities ------------------------------------------------------------------

inline constexpr char kRocketName[] = "rocket";
inline constexpr char kRocketDate[] = "0";
inline constexpr char kRocketDescription[] = "rocket DRM";
inline constexpr uint32_t kAccelMajor = 261;  // of the device node
inline constexpr uint64_t kCapPrime = 5, kCapMonotonic = 6, kCapSyncobj = 0x13,
                          kCapSyncobjTimeline = 0x14;

// --- Part H ----------------------------------------------------------------------------------

static_assert(sizeof(DrmVersion) == 64 && offsetof(DrmVersion, name_len) == 16 &&
              offsetof(DrmVersion, desc) == 56);
static_assert(sizeof(DrmUnique) == 16 && sizeof(DrmGemClose) == 8 && sizeof(DrmGemFlink) == 8);
static_assert(sizeof(DrmGetCap) == 16 && sizeof(DrmSetClientCap) == 16);
static_assert(sizeof(DrmPrimeHandle) == 12);
static_assert(sizeof(RocketCreateBo) == 24 && offsetof(RocketCreateBo, offset) == 16);
static_assert(sizeof(RocketPrepBo) == 16 && offsetof(RocketPrepBo, timeout_ns) == 8);
static_assert(sizeof(RocketFiniBo) == 8 && sizeof(RocketTask) == kRocketTaskV1Bytes);
static_assert(sizeof(RocketJob) == 48 && offsetof(RocketJob, flags) == kRocketJobV1Bytes);
static_assert(sizeof(RocketSubmit) == 24 && offsetof(RocketSubmit, reserved) == 16);
static_assert(sizeof(RocketBoRange) == 16 && sizeof(RocketPrepBoRanges) == 32 &&
              sizeof(RocketFiniBoRanges) == 24);

static_assert(kIoctlVersion == 0xc0406400 && kIoctlGetUnique == 0xc0106401);
static_assert(kIoctlGemClose == 0x40086409 && kIoctlGemFlink == 0xc008640a);
static_assert(kIoctlGetCap == 0xc010640c && kIoctlSetClientCap == 0x4010640d);
static_assert(kIoctlPrimeHandleToFd == 0xc00c642d && kIoctlPrimeFdToHandle == 0xc00c642e);
static_assert(kIoctlCreateBo == 0xc0186440 && kIoctlSubmit == 0x40186441);
static_assert(kIoctlPrepBo == 0x40106442 && kIoctlFiniBo == 0x40086443);
static_assert(kIoctlPrepBoRanges == 0x40206444 && kIoctlFiniBoRanges == 0x40186445);

}  // namespace npu::uapi

#endif  // SRC_UAPI_ROCKET_H_
