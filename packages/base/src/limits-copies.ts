// Limits of whole partition files on their way: each with its unit, its value, its reason.

// --- how many at once ----------------------------------------------------------
/** Files that one device takes: two keep disk and network busy, the others are being verified. */
export const copiesInMax = 6;
/** Of them from the devices of one server (ip), so that joiners spread over their sources. */
export const copiesFromServerMax = 4;
/** Of them from one zone: a link between two zones carries more than this change. */
export const copiesFromZoneMax = 5;
/** Snapshots held open for others per device. */
export const copiesOutMax = 16;
/**
 * Partition files given up at the same time per device: each waits on its peers, not on this disk.
 */
export const drainsMax = 16;

// --- one copy ------------------------------------------------------------------
/** Taking and hashing a snapshot of the largest partition file may take this long. */
export const copyOpenTimeoutMs = 600_000;
/** A snapshot nobody has read from for this long is released. */
export const copyIdleMsMax = 60_000;
/** Chunks asked for ahead of the one being written: hides the round trip. */
export const copyChunksAhead = 4;

// --- failures ------------------------------------------------------------------
/** First pause before a load or drain that failed is tried again; it doubles for loads. */
export const dutyRetryMs = 500;
/** Longest pause of a load: short against copying a file, long against asking for one. */
export const dutyRetryMsMax = 4_000;
