// Limits of what people type; see limits.ts. Larger values are typing errors, or would never end.

/** A name or text from elsewhere, quoted in a message about it; longer text is cut. */
export const typedCharactersMax = 160;
/** A word in a message: longer than most paths and ids, short enough for a screen. */
export const wordCharactersMax = 512;
/** Two attempts to reach a server; a shorter time would end a rollout while it still asks. */
export const stallSecondsMin = 1;
/** Nobody waits longer than a week for a byte of progress. */
export const stallSecondsMax = 604_800;
/** Ten years: a slower change of a weight has a plan of its own. */
export const rampHoursMax = 87_600;
/** A ramp of ten thousand steps; at zero the weight would never arrive. */
export const rampPercentMin = 0.01;
/** 60 ms: a beacon with a shorter life expires before a server reads it. */
export const beaconMinutesMin = 0.001;
/** A minute and a half: a root with a shorter life expires before it is pushed. */
export const trustLifeDaysMin = 0.001;
/** Ten years: then clients need another authority. */
export const authorityLifeDays = 3_650;
/** A year: `certs list` and the server's log show the end. */
export const certificateLifeDays = 365;
/** From here on `certs list` exits with 1: a month is left to make a new one. */
export const certificateWarnDays = 30;
/** How far the clock of a client that checks a new certificate may be behind. */
export const certificateEarlyMs = 3_600_000;

/** Records of an archive in one frame, so that small ones take few writes. */
export const archiveFrameRecordsMax = 1_000;
/** The most an interrupted archive reads again when it resumes. */
export const archiveProgressBytes = 16 * 1_048_576;
/** Bytes a frame may hold before its last record, and also the most for that record. */
export const archiveFrameBytesMax = 4 * 1_048_576;
/** Records that a restore writes at once: each takes a few round trips of servers. */
export const restoredAtOnce = 64;
/**
 * Stores whose credentials are remembered for a user, about 300 bytes each. Beyond it, the store
 * that was opened least recently is forgotten and needs its options again.
 */
export const storesOpenedMax = 256;
/**
 * Chains of roots that are remembered for a user, and folders of each. Beyond it, those that were
 * added or changed least recently are forgotten, and are trusted again at first sight.
 */
export const knownHistoriesMax = 1_024;
export const knownFoldersMax = 256;
