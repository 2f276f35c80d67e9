// Archives, all the time, by the real ring-builder: of the ring under torture, each checked against
// the history of clients; the first ones are put back into rings of other shapes.
import path from 'node:path';
import { seededRandom } from '@ringwright/base/random';
import { archivedReads } from '../archives/archived-reads.ts';
import { restoredFaults, restoredMax, restoreElsewhere } from '../archives/restored-ring.ts';
import { archiveDeath, typeUntilDone } from '../archives/type-until-done.ts';
import { Broken, lasts, type Nemesis } from '../nemesis.ts';
import { keyspace, type Stage } from '../stage.ts';

const ARCHIVED = 'archives: made';
const RESTORED = 'archives: restored';
/** Leaves the processor to others: an archive reads everything. */
const PAUSE_MS = 15_000;
/** Parts that are saved before it dies. */
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

/** What was restored is still there, on replicas that are equal. */
async function proveArchives(stage: Stage, withinMs: number) {
  const troubles: string[] = [];
  const random = seededRandom(stage.others.length);
  for (const ring of stage.others) {
    await stage.converge(withinMs, ring.keyspace);
    troubles.push(...(await restoredFaults(stage, ring, random)));
  }
  const made = stage.faults.filter(({ name }) => name === ARCHIVED).length;
  const records = stage.others.reduce((sum, { values }) => sum + values.size, 0);
  const restored = `${records} records restored into ${stage.others.length} other rings`;
  const notes = [`archives     ${made}, ${stage.archived.length} reads in them; ${restored}`];
  return { troubles, notes };
}
