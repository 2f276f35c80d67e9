// Drops that wait for an operator: the result of judgeDrops, stored on disk before it takes effect.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { makeDirectory } from '@ringwright/node/durable-files';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { retiringIn } from '@ringwright/ring/reshape-ring';
import { partitionField, ringIdField } from '@ringwright/wire/fields';
import { z } from 'zod';
import { readState, writeState } from '../device/state-file.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type DropNote, judgeDrops, noDrops } from './judge-drops.ts';
import { isSurplus } from './plan-duties.ts';

const noteSchema = z.strictObject({
  ring: z.nullable(ringIdField),
  explained: z.array(partitionField).readonly(),
  held: z.array(partitionField).readonly(),
});

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
    const isQuiet = note.explained.length + note.held.length === 0;
    const wasQuiet = before.explained.length + before.held.length === 0;
    if (!isQuiet || !wasQuiet) {
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
  const given = `${shown.count} drops under ring ${shown.ringId.slice(0, 12)}`;
  const message = `${given}, but ${count} are held under ring ${active.id.slice(0, 12)}`;
  throw new CodedError('DROPS_DIFFER', message, {
    hint: `ring-builder trash ${keyspace} confirm shows what is held now`,
    details: { shown, held: { ringId: active.id, count } },
  });
}
