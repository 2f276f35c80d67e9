// Archives the tortured ring continuously with the real ring-builder, and checks each archive
// against the clients' history. Restores the first ones into rings of other shapes.
import path from 'node:path';
import { seededRandom } from '@ringwright/base/random';
import { archivedRecords } from '../../../test/support/archived-records.ts';
import type { Operation } from '../../../test/support/history-operation.ts';
import { restoredFaults, restoredMax, restoreElsewhere } from '../archives/restored-ring.ts';
import { archiveDeath, typeUntilDone } from '../archives/type-until-done.ts';
import { withoutFiller } from '../filled-value.ts';
import { Broken, lasts, type Nemesis } from '../nemesis.ts';
import { keyspace, type Stage } from '../stage.ts';

const ARCHIVED = 'archives: made';
const RESTORED = 'archives: restored';
/** Leaves the processor to others in between, because an archive reads everything. */
const PAUSE_MS = 15_000;
/** Maximum number of parts saved before the archive is killed. */
const PASSES_MAX = 6;

export const archive: Nemesis = {
  name: 'archives',
  planned: [
    ...[ARCHIVED, RESTORED],
    ...[archiveDeath('archive.part-saved'), archiveDeath('restore.frame-written')],
  ],
  async strike(stage, random, signal) {
    const number = stage.faults.filter(({ name }) => name === ARCHIVED).length + 1;
    const folder = path.join(stage.shape.folder, `archive-${number}`);
    const passes = random.below(PASSES_MAX);
    await stage.fault(ARCHIVED, [], async () => {
      const begunMs = performance.now();
      const words = ['archive-data', keyspace, '--to', folder];
      const death = { place: 'archive.part-saved', passes, signal } as const;
      if (!(await typeUntilDone(stage, words, death))) return 'spared';
      stage.archived.push(...(await archivedReads(folder, { history: stage.history, begunMs })));
      return undefined;
    });
    if (stage.others.length < restoredMax && !signal.aborted) {
      await stage.fault(RESTORED, [], async () => {
        const ring = await restoreElsewhere(stage, folder, { random, signal });
        if (ring === null) return 'spared';
        const faults = await restoredFaults(stage, ring, random);
        if (faults.length > 0) throw new Broken(faults.slice(0, 5).join('; '));
        return undefined;
      });
    }
    await lasts(PAUSE_MS, signal);
  },
  prove: proveArchives,
};

/**
 * Returns an archive as quorum reads: of every key written before it began, and of all keys in it.
 * Each read lasts as long as the archive, because its record may be from any moment between the
 * first attempt and the end. Throws ARCHIVE_INVALID.
 */
async function archivedReads(
  folder: string,
  { history, begunMs }: { readonly history: readonly Operation[]; readonly begunMs: number },
): Promise<Operation[]> {
  const returnedMs = performance.now();
  const reads = new Map<string, Operation>();
  const read = { kind: 'read', level: 'quorum', outcome: 'acked', port: 0 } as const;
  const span = { invokedMs: begunMs, returnedMs };
  for (const { key, invokedMs } of history) {
    if (invokedMs < begunMs) reads.set(key, { ...read, ...span, key, value: null, stamp: null });
  }
  const found = new Set<string>();
  for (const { key: bytes, value, ms, tie } of await archivedRecords(folder)) {
    const key = Buffer.from(bytes).toString();
    const text = withoutFiller(Buffer.from(value).toString()) ?? '';
    // This value was never written, so the checker reports it.
    const named = found.has(key) ? `twice: ${text}` : text;
    found.add(key);
    reads.set(key, { ...read, ...span, key, value: named, stamp: { ms, tie } });
  }
  return [...reads.values()];
}

/** Checks that the restored records are still there, on equal replicas. */
async function proveArchives(stage: Stage, withinMs: number) {
  const troubles: string[] = [];
  const random = seededRandom(stage.others.length);
  for (const ring of stage.others) {
    await stage.converge(withinMs, ring.keyspace);
    troubles.push(...(await restoredFaults(stage, ring, random)));
  }
  const count = stage.faults.filter(({ name }) => name === ARCHIVED).length;
  const records = stage.others.reduce((sum, { values }) => sum + values.size, 0);
  const restored = `${records} records restored into ${stage.others.length} other rings`;
  const notes = [`archives     ${count}, ${stage.archived.length} reads in them; ${restored}`];
  return { troubles, notes };
}
