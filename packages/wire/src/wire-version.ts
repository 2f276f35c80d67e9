// The version of the wire format, with its history. Bump it when a schema changes:
// wire-version.test.ts tells.

/**
 * 1: hello, rings (offer, chunk, fetch), records (write, read, rows), replication (digests, offer,
 * push),
 *    copies of partition files (open, read, close).
 * 2: trust (offer, fetch): roots and beacons.
 * 3: coordination for clients (put, get), keys of a partition.
 * 4: floors (promise, raise), told with digests and rows.
 * 5: rings as deltas (delta).
 * 6: a copy is asked for by a device of the ring (copy-open); how fast copies go
 *    (copy-rate).
 * 7: moves (control, receipts).
 * 8: records expire and have an origin; prepare, promises, and refusals by promises.
 * 9: the signatures a ring is held with (hello, ring offer), deltas fetched (ring fetch), the word
 *    on a fork (ring settle).
 * 10: dropped partitions (trash-list, trash-restore), drops that wait for a word (confirm-drops).
 * 11: puts with a time to live and a condition, gets with an expiry; linearizable.
 * 12: moves that are forced, with a reason (move-control).
 * 13: writes that repair what a read found (write).
 * 14: how old a data directory is, and what is remembered of the receiver's (hello).
 * 15: sums of what came of late (digests).
 * 16: the hash of a long copy comes at its end (copy-open, copy-checksum).
 * 17: the stamp of a record without its value (stamp).
 * 18: a copied file has a seal instead of a hash, told when it is opened (copy-open).
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
 */
export const wireVersion = 29;
/**
 * The oldest version that is understood as well, that of release 0.1.0: older-forms.ts says what is
 * sent to it.
 */
export const oldestWireVersion = 18;
