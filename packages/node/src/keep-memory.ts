// Memory of a process that takes long pieces and gives them back all the time.

/** A piece that is longer comes from the kernel, and goes back to it: what glibc allows at most. */
const KEPT_PIECE_BYTES = 32 * 1024 * 1024;
/** So much may be free before glibc gives any back. */
const KEPT_BYTES = 64 * 1024 * 1024;

/**
 * For the environment of such a process: the C library of Linux then keeps what is freed. To give
 * the kernel a piece of 256 KiB and to take it again is 64 page faults: half of the kernel's time
 * when files are given, and three quarters when they are taken. Other systems ignore the names.
 */
export const keepMemory: Readonly<Record<string, string>> = {
  MALLOC_MMAP_THRESHOLD_: String(KEPT_PIECE_BYTES),
  MALLOC_TRIM_THRESHOLD_: String(KEPT_BYTES),
};
