// The version of the wire format, with its history. Bump it when a schema changes:
// wire-version.test.ts tells.

/**
 * 18: that of release 0.1.0.
 * 19: files in use are compared with the directory (files-look); refills that are forced
 *    (move-control); rates that are lent (copy-rate); files that lack what they acknowledged
 *    (digests).
 * 20: copies from process to process (copy-start, copy-go-on, copy-checksum).
 * 21: they may be encrypted (copy-start, copy-go-on).
 * 22: the access document with roots and beacons (trust), and which one is in force (hello).
 * 23: many writes in one message (writes).
 * 24: the audit log is read (audit-read).
 * 25: pages of a partition in key order (page-read, coordinate-scan): listings need them of every
 *    device that they ask.
 * 26: the last rows of a file beside its digest (tail).
 * 27: pages of an arc of hashes, whatever is split and merged meanwhile (coordinate-scan).
 * 28: a rollout is told when moves have come to rest (moves-complete).
 * 29: whether a file has promises is told with its last rows (rows).
 * 30: what was promised, so that a joiner can take it over (promises).
 * 31: small partitions travel as records, beside the digest of them (copy-start, rows).
 * 32: these come with the first answer, packed (copy-start).
 *
 * Programs of version 18 to 31 call themselves 0.1.0. Since 32 the second number of a release is
 * its wire version.
 */
export const wireVersion = 32;
/**
 * The oldest version that is understood as well, that of release 0.1.0: older-forms.ts says what is
 * sent to it.
 */
export const oldestWireVersion = 18;
