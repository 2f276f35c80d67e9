// ring-builder list: lists the rings of the folder, each with its head and what waits.

import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { codedOrDisk } from '@ringwright/base/disk-error';
import { printTable } from '@ringwright/base/print-table';
import { approvalOf } from '@ringwright/repository/approval';
import { stagedChanges } from '@ringwright/repository/folder/builder-file';
import { requireRings } from '@ringwright/repository/folder/list-rings';
import { lastVersionEntry } from '@ringwright/repository/folder/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import { readStoreFile } from '@ringwright/repository/shared/store-file';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import type { Command, Context } from '../../cli/command.ts';
import { removedHolders, ringTargets } from '../../servers/ring-targets.ts';
import { lastPush } from '../../versions/last-push.ts';
import { newerComponents, newerText } from '../../versions/newer-components.ts';
import { trustOf } from '../../versions/signing.ts';
import { wavesLeft } from '../../versions/waves-left.ts';

interface ListedRing {
  readonly ring: string;
  readonly version: number | null;
  readonly id: string | null;
  /** Time of the head, ISO 8601 in UTC. */
  readonly time: string | null;
  readonly partitions: number | null;
  readonly replicas: number | null;
  /** Servers of the head; without a head, of the staged devices. */
  readonly servers: number;
  readonly devices: number;
  readonly staged: number;
  readonly inFlight: number;
  /** Moves left for later waves, including those that no version has noted. */
  readonly movesLeft: number;
  readonly restsUntil: string | null;
  readonly pushed: number | null;
  /** Signatures that the head lacks before it can be pushed; null if trust.json is unreadable. */
  readonly signaturesMissing: number | null;
  /**
   * The command by which a composite ring follows newer components, for Context.next; null: none
   * are newer.
   */
  readonly follow: string | null;
  /** What waits, or why the ring cannot be read. */
  readonly state: string;
}

export const command: Command = {
  examples: [
    ['$0 list', 'what is in the folder, without asking servers'],
    ['$0 list --rings /srv/rings --json', 'the same for another folder, as JSON'],
  ],
  run: async (_args, context) => {
    const rings: ListedRing[] = [];
    const names = await requireRings(context.rings);
    // `health` reports an unreadable trust.json.
    const trust = await resultOrError(trustOf(context));
    for (const name of names) rings.push(await listed(context, name, trust));
    const count = `${counted(rings.length, 'ring')} in ${context.rings}`;
    const isStored = rings.length === 0 && (await readStoreFile(context.rings)) !== null;
    const first = isStored ? 'status RING' : 'create RING --partition-power 8 --replicas 3';
    return {
      json: {
        rings: rings.map((one) => ({ ...one, follow: one.follow && context.next(one.follow) })),
      },
      lines: [
        count,
        isStored && 'a ring of the store is fetched when you first name it',
        ...(rings.length === 0 ? [] : ['', ...table(rings)]),
      ],
      next: context.next(rings.length === 0 ? first : followed(rings)),
    };
  },
};

/**
 * `health` asks servers, so it comes last: a composite ring that is behind is known without them.
 */
function followed(rings: readonly ListedRing[]): string {
  return rings.find(({ follow }) => follow !== null)?.follow ?? 'health';
}

async function listed(
  context: Context,
  name: string,
  trust: Trust | null | CodedError,
): Promise<ListedRing> {
  try {
    const { entries, staged, state } = await openRing(context.rings, name);
    const lastEntry = lastVersionEntry(entries);
    const stored = lastEntry === null ? null : await readVersion(context.rings, name, 'head');
    const changes = stagedChanges(staged);
    const added = changes.flatMap((one) => (one.kind === 'add' ? [one.device] : []));
    const devices = (stored?.ring.devices ?? added).filter((device) => device !== null);
    const left = stored === null ? null : wavesLeft(stored, entries, context.nowMs());
    const counts = {
      staged: changes.length,
      inFlight: stored?.ring.moves.length ?? 0,
      movesLeft: left?.movesLeft ?? 0,
      restsUntil: left?.restsUntil ?? null,
      pushed: lastPush(entries)?.version ?? null,
      signaturesMissing: stored === null ? 0 : missingOf(stored, trust),
    };
    const removed = stored === null ? 0 : removedHolders(stored.ring, state).length;
    const version = lastEntry?.version ?? null;
    const { newer, follow } = await newerComponents(context.rings, state);
    return {
      ...{ ring: name, version, id: lastEntry?.id ?? null, time: lastEntry?.time ?? null },
      ...{
        partitions: stored === null ? null : liveCountOf(stored.ring.partitioner),
        replicas: state.replicas,
      },
      ...{ servers: ringTargets({ devices }, null).length, devices: devices.length, ...counts },
      follow,
      state: stateOf({ version, ...counts, removed, newer: newer.map(newerText) }),
    };
  } catch (error) {
    const { code, message } = codedOrDisk(error);
    // DISK_FAILED alone would not say which file failed or why.
    const state = code === 'DISK_FAILED' ? `${code}: ${message}` : code;
    return { ...unreadableRow, ring: name, state };
  }
}

const unreadableRow = {
  ...{ version: null, id: null, time: null, partitions: null, replicas: null, pushed: null },
  ...{ servers: 0, devices: 0, staged: 0, inFlight: 0, movesLeft: 0, restsUntil: null },
  ...{ signaturesMissing: null, follow: null },
};

function missingOf(stored: StoredVersion, trust: Trust | null | CodedError): number | null {
  return trust instanceof CodedError ? null : approvalOf(stored, trust).missing;
}

function stateOf(
  found: Pick<
    ListedRing,
    'version' | 'staged' | 'inFlight' | 'movesLeft' | 'restsUntil' | 'pushed' | 'signaturesMissing'
  > & { readonly removed: number; readonly newer: readonly string[] },
): string {
  const { version, staged, inFlight, movesLeft, restsUntil, pushed, removed, newer } = found;
  const missing = found.signaturesMissing ?? 0;
  const rest = restsUntil === null ? '' : `, resting until ${restsUntil.slice(0, 16)}Z`;
  const waits = [
    version === null ? 'no version yet' : '',
    version !== null && pushed === null ? 'never pushed' : '',
    pushed !== null && pushed !== version ? `pushed up to ${pushed}` : '',
    missing > 0 ? `lacks ${counted(missing, 'signature')}` : '',
    inFlight > 0 ? `${counted(inFlight, 'move')} in flight` : '',
    movesLeft > 0 ? `${counted(movesLeft, 'move')} left for later${rest}` : '',
    removed > 0 ? `${counted(removed, 'removed device')} with slots` : '',
    staged > 0 ? `${counted(staged, 'change')} staged` : '',
    ...newer,
  ].filter((part) => part !== '');
  return waits.length === 0 ? 'nothing pending' : waits.join(', ');
}

function table(rings: readonly ListedRing[]): string[] {
  return printTable(rings, [
    { head: 'RING', cell: ({ ring }) => ring },
    { head: 'HEAD', cell: ({ version }) => version ?? '-' },
    { head: 'ID', cell: ({ id }) => id?.slice(0, 12) ?? '-' },
    { head: 'SINCE', cell: ({ time }) => (time === null ? '-' : `${time.slice(0, 19)}Z`) },
    { head: 'PARTITIONS', cell: ({ partitions }) => partitions ?? '-' },
    { head: 'REPLICAS', cell: ({ replicas }) => replicas ?? '-' },
    { head: 'SERVERS', cell: ({ servers }) => servers },
    { head: 'DEVICES', cell: ({ devices }) => devices },
    { head: 'STATE', cell: ({ state }) => state },
  ]);
}
