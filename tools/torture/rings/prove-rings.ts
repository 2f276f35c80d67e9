// Checks files, repository and receipts against the rings after a run of ring changes.
import { makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { deviceIn, type Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { Proof } from '../nemesis.ts';
import { keyspace, type Stage } from '../stage.ts';
import { rollOut } from './operator.ts';
import { readReceipts, receiptFaults } from './receipts.ts';

const MOVES_PER_MINUTE_MIN = 1;
const MINUTE_MS = 60_000;

/** Runs after the last rollout. Throws if the rollout does not end or replicas stay unequal. */
export async function proveRings(stage: Stage, withinMs: number): Promise<Proof> {
  await rollOut(stage, { withinMs });
  await stage.converge(withinMs);
  const ring = await stage.head();
  const troubles = orphans(stage, ring);
  const audits = ['verify', 'reconcile'] as const;
  for (const verb of audits) {
    const { exit, stdout, stderr } = await stage.builder.run([verb, keyspace, '--json']);
    if (exit !== 0) troubles.push(`${verb} ended with ${exit}: ${stdout}${stderr}`);
  }
  const { moved, minutes } = await sums(stage);
  const receipts = readReceipts(stage);
  troubles.push(...receiptFaults(receipts));
  if (moved !== receipts.length) {
    troubles.push(`receipts: ${receipts.length}, but ${moved} slots changed their device`);
  }
  const rate = moved / minutes;
  if (minutes >= 1 && rate < MOVES_PER_MINUTE_MIN) {
    troubles.push(`not covered: ${moved} moves were finished in ${minutes.toFixed(1)} minutes`);
  }
  const figures = `${moved} moves finished, each with a receipt; ${rate.toFixed(1)} a minute`;
  return { troubles, notes: [`rings        ${ring.version} versions, ${figures}`] };
}

/** Returns files of partitions that the ring does not assign to their device, if any. */
function orphans(stage: Stage, ring: Ring): string[] {
  return stage.victims.flatMap((victim) => {
    const id = victim.idIn(ring);
    const isOrphan = (partition: number): boolean =>
      !slotsOf(ring, partition).some(({ device }) => device === id);
    return victim
      .partitions()
      .filter(isOrphan)
      .map((partition) => `orphan: ${victim.name} has a file of partition ${partition}`);
  });
}

interface Sums {
  /** Slots that changed their device from one version to the next, summed over all versions. */
  readonly moved: number;
  /** From the first line of the log to the last. */
  readonly minutes: number;
}

async function sums(stage: Stage): Promise<Sums> {
  const entries = await readLog(stage.rings, keyspace);
  let moved = 0;
  let before: Ring | null = null;
  for (const { version } of entries.filter(makesVersion)) {
    const { ring } = await readVersion(stage.rings, keyspace, version);
    if (before !== null) moved += differing(before, ring);
    before = ring;
  }
  const times = entries.map(({ time }) => Date.parse(time));
  const minutes = (Math.max(...times) - Math.min(...times)) / MINUTE_MS;
  return { moved, minutes };
}

function differing(before: Ring, after: Ring): number {
  const changed = after.table.map(
    (row, replica) =>
      row.filter((device, partition) => {
        // Parents that were split or merged are dropped where they were.
        const isHeld = deviceIn(row, partition) !== undefined;
        return isHeld && device !== before.table[replica]?.[partition];
      }).length,
  );
  return changed.reduce((sum, count) => sum + count, 0);
}
