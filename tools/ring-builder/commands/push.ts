// ring-builder push: sends a version to the servers of its ring and says what each answered.
import { appendPush } from '@ringwright/repository/append-push';
import { headOf, readLog } from '@ringwright/repository/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/read-version';
import { readTrust } from '@ringwright/repository/trust-file';
import { optionalText, text, texts } from '../arguments.ts';
import { beaconMinutes, makeBeacon } from '../beacon.ts';
import { fanOut } from '../fan-out.ts';
import type { TrustDocuments } from '../give-trust.ts';
import { printTable } from '../print-table.ts';
import { type PushOutcome, pushRing } from '../push-ring.ts';
import { ringTargets, type Target } from '../ring-targets.ts';
import { ringStatus } from '../server-status.ts';
import { requirePushable } from '../signing.ts';
import { authorOf } from '../stage-verb.ts';
import type { Answer, Context, Verb } from '../verb.ts';
import { versionOf } from '../version-reference.ts';
import { waitUntil } from '../wait-until.ts';

/**
 * First files of a new ring are opened in this time; a device that refills may take longer and is
 * reported.
 */
const READY_WAIT_MS = 15_000;

export const verb: Verb = {
  options: {
    to: {
      type: 'string',
      array: true,
      describe: 'further servers, as IP:PORT, that are to have the ring',
    },
  },
  examples: [
    ['$0 push cities', 'sends the head to every server of the ring'],
    ['$0 push cities --to 10.0.0.9:6200', 'and to one that is not in it, such as a gateway'],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const wanted = versionOf(
      ring,
      await readLog(context.rings, ring),
      optionalText(args, 'version'),
    );
    const version = await readVersion(context.rings, ring, wanted);
    const extra = texts(args, 'to').map(
      (address): Target => ({ address, devices: [], required: true }),
    );
    const targets = [...ringTargets(version.ring, version.state), ...extra];
    const servers = await pushAndNote(context, version, targets);
    const ready = await waitReady(context, ring, servers);
    return pushAnswer(context, version, { servers, ready });
  },
};

/** Pushes a version; the first time any server accepts it, the log says so. */
export async function pushAndNote(
  context: Context,
  version: StoredVersion,
  targets: readonly Target[],
): Promise<PushOutcome[]> {
  const { keyspace } = version.ring;
  await requirePushable(context, version);
  const trust = await trustToGive(context, version);
  const servers = await pushRing(version, targets, { nowMs: context.nowMs(), trust });
  const accepted = servers.filter(({ outcome }) => outcome === 'accepted').length;
  const head = { version: version.ring.version, id: version.id };
  const place = { rings: context.rings, ring: keyspace };
  const noted = (await readLog(context.rings, keyspace)).some(
    (entry) => entry.kind === 'push' && entry.id === version.id,
  );
  if (accepted > 0 && !noted) {
    const details = { accepted, servers: servers.length };
    await appendPush(place, head, { ...authorOf(context), message: '', details });
  }
  return servers;
}

/** trust.json, and a beacon when the version is the head and a beacon key is here. */
async function trustToGive(
  context: Context,
  version: StoredVersion,
): Promise<TrustDocuments | null> {
  const found = await readTrust(context.rings);
  if (found === null) return null;
  const entries = await readLog(context.rings, version.ring.keyspace);
  const isHead = headOf(entries)?.id === version.id;
  const given = { version, minutes: beaconMinutes };
  const beacon = isHead ? await makeBeacon(context, found.trust, given) : null;
  return { roots: found.bytes, beacons: beacon === null ? [] : [beacon] };
}

async function waitReady(
  context: Context,
  ring: string,
  servers: readonly PushOutcome[],
): Promise<boolean> {
  const accepted = servers.filter(
    ({ outcome, devices }) => outcome === 'accepted' && devices.length > 0,
  );
  const { done } = await waitUntil({
    ask: () => fanOut(accepted, ({ address }) => ringStatus(address, ring)),
    isDone: (all) => all.every((one) => !(one instanceof Error) && one.notReady === 0),
    progressOf: (all) => {
      const waiting = all.reduce((sum, one) => sum + (one instanceof Error ? 0 : one.notReady), 0);
      return `${waiting} partitions are not ready yet`;
    },
    stallMs: READY_WAIT_MS,
    nowMs: context.nowMs,
    tell: context.tell,
  });
  return done;
}

function pushAnswer(
  context: Context,
  { ring, id }: StoredVersion,
  { servers, ready }: { readonly servers: readonly PushOutcome[]; readonly ready: boolean },
): Answer {
  const count = (wanted: string): number =>
    servers.filter(({ outcome, required }) => outcome === wanted && required).length;
  const [accepted, refused, unreachable] = ['accepted', 'refused', 'unreachable'].map(count);
  const { keyspace, version, moves } = ring;
  const failed = servers.filter(({ outcome }) => outcome !== 'accepted');
  const table = printTable(failed, [
    { head: 'SERVER', cell: ({ address }) => address },
    { head: 'ANSWER', cell: ({ outcome }) => outcome },
    { head: 'CODE', cell: ({ code }) => code ?? '' },
    { head: 'WHY', cell: ({ message }) => message ?? '' },
  ]);
  const notReady = ready ? [] : ['some partitions are not ready yet: their devices refill'];
  return {
    json: { ring: keyspace, version, id, accepted, refused, unreachable, ready, servers },
    lines: [
      `${keyspace} version ${version} (${id.slice(0, 12)}): ${accepted} of ${servers.length} servers accepted`,
      ...(failed.length > 0 ? table : []),
      ...notReady,
    ],
    next: context.next(moves.length > 0 ? `rollout ${keyspace}` : `servers ${keyspace}`),
    exit: unreachable ? 4 : refused ? 5 : 0,
  };
}
