// The version of the wire format, with its history. Raise it when a schema changes:
// wire-version.test.ts detects that.

/**
 * 18: release 0.1.0.
 * 19: open files are compared with the directory (files-look); forced refills (move-control);
 *    loaned rates (copy-rate); files that lack records they acknowledged (digests).
 * 20: copies between carriers (copy-start, copy-go-on, copy-checksum).
 * 21: these copies may be encrypted (copy-start, copy-go-on).
 * 22: the access document beside roots and beacons (trust), and its head (hello).
 * 23: many writes in one message (writes).
 * 24: reading the audit log (audit-read).
 * 25: pages of a partition in key order (page-read, coordinate-scan): listings need them from every
 *    device that they ask.
 * 26: the last rows of a file beside its digest (tail).
 * 27: pages of an arc of hashes, whatever is split and merged meanwhile (coordinate-scan).
 * 28: a rollout learns when moves are complete (moves-complete).
 * 29: the last rows of a file tell whether it has promises (rows).
 * 30: the stamps that were promised, so that a joiner can take the promises over (promises).
 * 31: small partitions travel as records, with their digest (copy-start, rows).
 * 32: these records come packed in the first answer (copy-start).
 *
 * Programs of versions 18 to 31 call themselves 0.1.0. Since 32 the second number of a release is
 * its wire version.
 */
export const wireVersion = 32;
/** The oldest supported version, of release 0.1.0: older-forms.ts converts its messages. */
export const oldestWireVersion = 18;
