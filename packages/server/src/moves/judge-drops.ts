// The guard on drops: decides which of the partitions that a ring takes from this device were to be
// expected, and whether the others are too many to drop without asking. Pure.
//
// A move that this device has seen in flight explains its drop: the operator has read it in a plan,
// it took two versions, and its joiner has proved that it holds everything. What a ring takes away
// without a move may well be a mistake: another cluster's ring, a table made by hand, a version
// built on the wrong one. Five per cent of a device may go like that, but nothing of a device that
// the ring does not name: it was removed while it was away, or its address differs from that in the
// ring.
import { dropsFreeMax, dropsPercentMax } from '@ringwright/base/limits-copies';

/** What is remembered of a keyspace, even after a restart. */
export interface DropNote {
  /** Id of the ring that was judged last; null: none yet. */
  readonly ring: string | null;
  /** Partitions that a move takes away, or that an operator has released. */
  readonly explained: readonly number[];
  /** Partitions that are not dropped until an operator releases them. */
  readonly held: readonly number[];
}

export interface DropFacts {
  readonly ring: string;
  /** Whether the ring names this device. */
  readonly isNamed: boolean;
  /** Partitions of moves in flight away from this device, and partitions being split or merged. */
  readonly leaving: readonly number[];
  /** Partitions here that the ring gives to other devices, and whether their files are complete. */
  readonly surplus: readonly { readonly partition: number; readonly complete: boolean }[];
  /** Number of partition files of the keyspace here. */
  readonly files: number;
}

export const noDrops: DropNote = { ring: null, explained: [], held: [] };

/** Returns the next note; the same object if nothing has changed. */
export function judgeDrops(note: DropNote, facts: DropFacts): DropNote {
  const { ring, isNamed, leaving, surplus, files } = facts;
  const all = new Set(surplus.map(({ partition }) => partition));
  const explained = [...new Set([...note.explained.filter((one) => all.has(one)), ...leaving])];
  const known = new Set(explained);
  // A file that never was complete holds only what its source still has.
  const notable = surplus.filter(({ complete }) => complete || !isNamed);
  const unexplained = notable.flatMap(({ partition }) => (known.has(partition) ? [] : [partition]));
  const isSame = note.ring === ring;
  const wasHeld = unexplained.filter((partition) => note.held.includes(partition));
  const isMuch = unexplained.length > dropsMax(files);
  // A restart at another address takes the device out of a ring that was judged before.
  const held = !isNamed ? unexplained : isSame ? wasHeld : isMuch ? unexplained : [];
  const next = { ring, explained: explained.sort(ascending), held: held.sort(ascending) };
  return JSON.stringify(next) === JSON.stringify(note) ? note : next;
}

/** Returns how many drops are allowed without a move and without asking. */
export function dropsMax(files: number): number {
  return Math.max(dropsFreeMax, Math.floor((files * dropsPercentMax) / 100));
}

function ascending(a: number, b: number): number {
  return a - b;
}
