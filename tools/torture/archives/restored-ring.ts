// Creates a ring of another shape and restores an archive into it, while a client writes to it.
import { setTimeout as delay } from 'node:timers/promises';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { pick, type Random } from '@ringwright/base/random';
import { compareStamps } from '@ringwright/base/stamp';
import { waitFor } from '@ringwright/node/wait-for';
import { type ArchivedRecord, archivedRecords } from '../../../test/support/archived-records.ts';
import { askRecord, type OperationResult } from '../../../test/support/ask-record.ts';
import { lasts } from '../nemesis.ts';
import { startCommand, typeFor } from '../rings/operator.ts';
import type { OtherRing, Stage } from '../stage.ts';
import { typeUntilDone } from './type-until-done.ts';

/** One ring per restore: partitioners and replica counts that the tortured ring does not have. */
const shapes: readonly (readonly string[])[] = [
  ['--partitioner', 'murmur3-mod', '--partitions', '5', '--replicas', '2'],
  ['--partitioner', 'ranges', '--boundaries', 'hot/2,warm/5', '--replicas', '3'],
  ['--partitioner', 'md5-shift', '--partitions', '8', '--replicas', '3'],
];
export const restoredMax = shapes.length;

/** One in this many keys is written during the restore. */
const WRITTEN_EVERY = 5;
const WRITE_PAUSE_MS_MAX = 60;
const ASKED_AT_ONCE = 8;
const PUSH_AGAIN_MS = 250;
/** Time limit for reading one record, whatever faults there are. */
const READ_MS_MAX = 60_000;
/** Number of first frames of a restore; it dies after one of them. */
const PASSES_MAX = 4;

interface Work {
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Returns the ring, with the values that it must have; null when time was up. */
export async function restoreElsewhere(
  stage: Stage,
  folder: string,
  { random, signal }: Work,
): Promise<OtherRing | null> {
  const ring = await createRing(stage, signal);
  if (ring === null) return null;
  // From here on, a wiped server is whole only when it has this ring too.
  stage.others.push(ring);
  const records = await archivedRecords(folder);
  const passes = random.below(PASSES_MAX);
  const [isRestored, written] = await Promise.all([
    typeUntilDone(stage, ['restore-data', ring.keyspace, '--from', folder], {
      ...{ place: 'restore.frame-written', passes, signal },
    }),
    writeSome(stage, ring, { records, random }),
  ]);
  if (!isRestored) return null;
  for (const record of records) {
    const key = Buffer.from(record.key).toString();
    ring.values.set(key, allowedValues(record, key, written.get(key)));
  }
  return ring;
}

async function createRing(stage: Stage, signal: AbortSignal): Promise<OtherRing | null> {
  const number = stage.others.length;
  const keyspace = `restored-${number + 1}`;
  const members = [...stage.victims];
  const devices = members.flatMap(({ text }) => [text, '1']);
  const signed = stage.secured === null ? ['--unsigned'] : [];
  await typeFor(stage, keyspace, ['create', ...(shapes[number] ?? []), ...signed]);
  await typeFor(stage, keyspace, ['add', ...devices]);
  await typeFor(stage, keyspace, ['commit', '-m', 'for an archive']);
  while (!signal.aborted) {
    const { exit } = await startCommand(stage, ['push', keyspace]).ended;
    if (exit === 0) return { keyspace, members, values: new Map() };
    await lasts(PUSH_AGAIN_MS, signal);
  }
  return null;
}

const newerValue = (key: string): string => `newer of ${key}`;

/** Returns the outcome of each write. */
async function writeSome(
  stage: Stage,
  ring: OtherRing,
  { records, random }: { readonly records: readonly ArchivedRecord[]; readonly random: Random },
): Promise<ReadonlyMap<string, OperationResult>> {
  const answers = new Map<string, OperationResult>();
  const ask = askerOf(stage, ring, random);
  for (const [index, { key: bytes }] of records.entries()) {
    if (index % WRITTEN_EVERY !== 0) continue;
    const key = Buffer.from(bytes).toString();
    answers.set(key, await ask('write', key, newerValue(key)));
    await delay(random.below(WRITE_PAUSE_MS_MAX));
  }
  return answers;
}

/** A write wins over an older record of the archive. */
function allowedValues(
  record: ArchivedRecord,
  key: string,
  write: OperationResult | undefined,
): string[] {
  const archived = Buffer.from(record.value).toString();
  if (write === undefined || write.outcome === 'rejected') return [archived];
  const isNewer = write.stamp !== null && compareStamps(write.stamp, record) > 0;
  if (write.outcome === 'acked' && isNewer) return [newerValue(key)];
  return [archived, newerValue(key)];
}

/** Returns a sentence for each key with a wrong value. */
export async function restoredFaults(
  stage: Stage,
  ring: OtherRing,
  random: Random,
): Promise<string[]> {
  const ask = askerOf(stage, ring, random);
  const faults = await mapConcurrent([...ring.values], ASKED_AT_ONCE, async ([key, allowed]) => {
    const { value = null } = await waitFor(`${key} of ${ring.keyspace}`, {
      ask: () => ask('read', key, null),
      until: ({ outcome }) => outcome === 'acked',
      deadlineMs: READ_MS_MAX,
    });
    if (value !== null && allowed.includes(value)) return [];
    const [found, legal] = [value ?? 'nothing', allowed.join(' or ')].map((one) =>
      one.slice(0, 60),
    );
    return [`restored: ${key} of ${ring.keyspace} is ${found}, not ${legal}`];
  });
  return faults.flat();
}

/** Sends requests to any member, at quorum. */
function askerOf(stage: Stage, { keyspace, members }: OtherRing, random: Random) {
  return (kind: 'read' | 'write', key: string, value: string | null): Promise<OperationResult> => {
    const { port } = pick(random, members).place;
    const shown = stage.secured?.operator ?? null;
    return askRecord({ kind, key, value, level: 'quorum', port, keyspace, shown });
  };
}
