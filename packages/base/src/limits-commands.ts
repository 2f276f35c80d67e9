// Limits of what people type, as limits.ts: beyond them it is a slip, or would never end.

/** A name or a text of somebody's, in a message about it: what is longer is cut. */
export const typedCharactersMax = 160;
/** A word of a message: longer than paths and ids usually are, short enough for a screen. */
export const wordCharactersMax = 512;
/** Two tries to reach a server; below it a rollout would give up while it still asks. */
export const stallSecondsMin = 1;
/** Whoever waits longer than a week for one byte has forgotten it. */
export const stallSecondsMax = 604_800;
/** Ten years: a weight that is longer on its way has a plan of its own. */
export const rampHoursMax = 87_600;
/** A ramp of ten thousand steps; at zero the weight would never arrive. */
export const rampPercentMin = 0.01;
/** 60 ms: a beacon that is good for less is over before a server reads it. */
export const beaconMinutesMin = 0.001;
/** A minute and a half: a root that is good for less is over before it is pushed. */
export const trustLifeDaysMin = 0.001;
/** Ten years: clients have to be given another authority after it. */
export const authorityLifeDays = 3_650;
/** A year: `certs list` and the log of a server tell the end. */
export const certificateLifeDays = 365;
/** `certs list` answers no from here on: a month to make another one. */
export const certificateWarnDays = 30;
/** The clock of whoever is shown a new certificate may be behind by that much. */
export const certificateEarlyMs = 3_600_000;

/** Records of an archive in one frame, so that small ones take few writes. */
export const archiveFrameRecordsMax = 1_000;
/** An archive that is cut off reads so many bytes again, at most, when it goes on. */
export const archiveProgressBytes = 16 * 1_048_576;
/** Of a frame: what it may hold before its last record, and as much again for that one. */
export const archiveFrameBytesMax = 4 * 1_048_576;
/** Records that a restore writes at once: each takes a few round trips of servers. */
export const restoredAtOnce = 64;
