// The guard on drops: which of the partitions that a ring takes from this device were to be
// expected, and whether the others are too many to drop without a confirmation; remembered on disk
// before it counts.
//
// A move that this device has seen in flight explains its drop: the operator has read it in a plan,
// it took two versions, and its joiner has proved that it holds everything. What a ring takes away
// without a move is as often a mistake as not: another cluster's ring, a table made by hand, a
// version that was built on the wrong one. Five per cent of a device may go like that, and nothing
// of a device that the ring does not name: it was removed while it was away, or it is at another
// address than the ring says.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { dropsFreeMax, dropsPercentMax } from '@ringwright/base/limits-copies';
import { makeDirectory } from '@ringwright/node/durable-files';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { retiringIn } from '@ringwright/ring/reshape-ring';
import { partitionField, ringIdField } from '@ringwright/wire/fields';
import { z } from 'zod';
import { readState, writeState } from '../device/state-file.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { isSurplus } from './plan-duties.ts';

/** What is remembered of a keyspace, even after a restart. */
const noteSchema = z.strictObject({
  /** Id of the ring that was judged last; null: none yet. */
  ring: z.nullable(ringIdField),
  /** Partitions that a move takes away, or that an operator has released. */
  explained: z.array(partitionField).readonly(),
  /** Partitions that are not dropped until an operator releases them. */
  held: z.array(partitionField).readonly(),
});

type DropNote = Readonly<z.infer<typeof noteSchema>>;

/** What an operator was shown of the drops that are held. */
export interface ShownDrops {
  readonly ringId: string;
  readonly count: number;
}

export class DropGuard {
  readonly #directory: string;
  readonly #mutex = new KeyedMutex();
  readonly #notes = new Map<string, DropNote>();

  /** `directory`: a folder used by nothing else. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Returns the partitions that may not be dropped under this ring. `infos`: the files of its
   * keyspace.
   */
  judge(active: ActiveRing, infos: readonly PartitionInfo[]): Promise<ReadonlySet<number>> {
    return this.#mutex.run(active.ring.keyspace, () => this.#judgeNow(active, infos));
  }

  async #judgeNow(
    active: ActiveRing,
    infos: readonly PartitionInfo[],
  ): Promise<ReadonlySet<number>> {
    const { keyspace } = active.ring;
    const note = await this.#read(keyspace);
    const next = judgeDrops(note, {
      ring: active.id,
      isNamed: active.self !== null,
      leaving: leavingOf(active),
      surplus: infos.flatMap(({ partition, state }) =>
        isSurplus(active, partition) ? [{ partition, complete: state === 'ready' }] : [],
      ),
      files: infos.length,
    });
    if (next !== note) await this.#keep(keyspace, next);
    return new Set(next.held);
  }

  heldCount(keyspace: string): number {
    return this.#notes.get(keyspace)?.held.length ?? 0;
  }

  /**
   * Releases the held drops. Throws DROPS_DIFFER unless they are what the operator was shown: so
   * many partitions under this ring, `quarantines` of them damaged.
   */
  confirm(active: ActiveRing, shown: ShownDrops, quarantines: number): Promise<void> {
    const { keyspace } = active.ring;
    return this.#mutex.run(keyspace, async () => {
      const note = await this.#read(keyspace);
      checkShown(active, shown, note.held.length + quarantines);
      const explained = [...note.explained, ...note.held];
      await this.#keep(keyspace, { ...note, explained, held: [] });
    });
  }

  /** Throws DISK_FAILED for a note that cannot be read: without it nothing is dropped. */
  async #read(keyspace: string): Promise<DropNote> {
    const known = this.#notes.get(keyspace);
    if (known !== undefined) return known;
    const note = (await readState(this.#file(keyspace), noteSchema)) ?? noDrops;
    this.#notes.set(keyspace, note);
    return note;
  }

  async #keep(keyspace: string, note: DropNote): Promise<void> {
    const before = this.#notes.get(keyspace) ?? noDrops;
    const isEmpty = note.explained.length + note.held.length === 0;
    const wasEmpty = before.explained.length + before.held.length === 0;
    if (!isEmpty || !wasEmpty) {
      await makeDirectory(this.#directory);
      await writeState(this.#file(keyspace), noteSchema, note);
    }
    this.#notes.set(keyspace, note);
  }

  #file(keyspace: string): string {
    return join(this.#directory, `${keyspace}.json`);
  }
}

/**
 * Returns the partitions that this ring moves away, splits or merges. None if the ring does not
 * name this device: a move whose `from` is null fills a slot that was lost.
 */
function leavingOf({ ring, self }: ActiveRing): number[] {
  if (self === null) return [];
  const moved = ring.moves.filter(({ from }) => from === self);
  return [...moved.map(({ partition }) => partition), ...retiringIn(ring)];
}

function checkShown(active: ActiveRing, shown: ShownDrops, count: number): void {
  if (shown.ringId === active.id && shown.count === count) return;
  const { keyspace } = active.ring;
  const shownText = `${shown.count} drops under ring ${shown.ringId.slice(0, 12)}`;
  const message = `${shownText}, but ${count} are held under ring ${active.id.slice(0, 12)}`;
  throw new CodedError('DROPS_DIFFER', message, {
    hint: `ring-builder trash ${keyspace} confirm shows what is held now`,
    details: { shown, held: { ringId: active.id, count } },
  });
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

/** Pure. The same note when nothing has changed. */
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
  const isTooMany = unexplained.length > dropsMax(files);
  // A restart at another address takes the device out of a ring that was judged before.
  const held = !isNamed ? unexplained : isSame ? wasHeld : isTooMany ? unexplained : [];
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
