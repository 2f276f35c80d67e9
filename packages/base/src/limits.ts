// Every limit of the project: its name with its unit, its value, its reason. Checked before memory is taken.
import { assert } from './assert.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

// --- rings -----------------------------------------------------------------
/** 2^24: a table of 3 rows then takes 100 MB, the most a builder should hold. */
export const partitionPowerMax = 24;
export const partitionCountMax = 2 ** partitionPowerMax;
/** Erasure codes of today use up to 20 fragments; 32 leaves room. */
export const replicaCountMax = 32;
/** Ten times the largest known cluster of this kind. Holes count: ids are indexes. */
export const deviceCountMax = 100_000;
/** Keeps weight sums exact in a double: 100,000 devices x 2^32 < 2^53. */
export const deviceWeightMax = 2 ** 32;
/** Moves listed per version (one wave); 28 bytes each, 1.8 MB. */
export const movesInFlightMax = 2 ** 16;
/** Regions and zones are small integers, as in Swift. */
export const tierNumberMax = 2 ** 31 - 1;
export const deviceMetaCharactersMax = 512;
export const deviceNameCharactersMax = 128;
/** Table of 2^24 x 32 replicas does not fit: the file cap bounds the product of the caps. */
export const ringFileBytesMax = 512 * MIB;
export const ringManifestBytesMax = 64 * KIB;
export const ringDevicesSectionBytesMax = 64 * MIB;
export const minPartHoursMax = 8_760;
export const overloadMax = 10;

// --- records ---------------------------------------------------------------
/** Keys are kept in an index page of SQLite; longer keys overflow it. */
export const keyBytesMax = 1_024;
export const valueBytesMax = 1 * MIB;
/** A write stamped further ahead of this clock is refused: one wrong clock must not win for ever. */
export const clockAheadMsMax = 60_000;

// --- servers ---------------------------------------------------------------
/** One chunk of a copied file or pushed ring: small enough not to delay a read by more than ~1 ms. */
export const transferChunkBytesMax = 256 * KIB;
/** One WebSocket message: a batch of records or one chunk, with its envelope. */
export const socketMessageBytesMax = 4 * MIB;
/** Unsent bytes to one peer; beyond it requests to that peer fail at once instead of queueing. */
export const peerQueueBytesMax = 16 * MIB;

assert(transferChunkBytesMax * 2 <= socketMessageBytesMax, 'a chunk fits a message');
assert(valueBytesMax + keyBytesMax + 64 * KIB <= socketMessageBytesMax, 'a record fits a message');
assert(socketMessageBytesMax <= peerQueueBytesMax, 'a message fits the queue');
assert(partitionCountMax * 3 * 2 <= ringFileBytesMax, 'the largest usual ring fits the file cap');
