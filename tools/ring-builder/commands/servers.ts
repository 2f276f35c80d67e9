// ring-builder servers: which server has which version in memory and on disk, since when, and why
// not the head.
import { CodedError } from '@ringwright/base/coded-error';
import { readVersion, type StoredVersion } from '@ringwright/repository/read-version';
import { text } from '../arguments.ts';
import { fanOut } from '../fan-out.ts';
import { lookAtFiles } from '../look-at-files.ts';
import { printTable } from '../print-table.ts';
import { ringTargets } from '../ring-targets.ts';
import { type RingStatus, ringStatus } from '../server-status.ts';
import type { Verb } from '../verb.ts';

interface ServerLine {
  readonly address: string;
  readonly devices: readonly number[];
  readonly version: number | null;
  readonly id: string | null;
  readonly sinceMs: number | null;
  /** The highest version on its disk. */
  readonly disk: RingStatus['disk'];
  /** Requests under way, by the version they were made with. */
  readonly requests: RingStatus['requests'];
  readonly current: boolean;
  readonly ready: boolean;
  readonly rows: number;
  readonly bytes: number;
  /** Files that were deleted, replaced, cut or found bad, and what happened to them. */
  readonly damaged: RingStatus['damaged'];
  /** Two rings of one version were seen there; an alarm as long as `settled` is null. */
  readonly fork: RingStatus['fork'];
  /** By the last beacon it was given. */
  readonly freshness: RingStatus['freshness']['state'] | null;
  /** What keeps it from being current or ready; empty when nothing does. */
  readonly why: string;
  /** The ring it refused last, with code and sentence; empty when there was none. */
  readonly refusal: string;
}

export const verb: Verb = {
  examples: [['$0 servers cities', 'asks every server of the ring what it has in memory']],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const head = await readVersion(context.rings, ring, 'head');
    const targets = ringTargets(head.ring, head.state);
    const servers = await fanOut(targets, async ({ address, devices }): Promise<ServerLine> => {
      const damaged = await damagedAt(address, ring, context.nowMs());
      const said = await ringStatus(address, ring);
      const known =
        said instanceof Error ? { ...absent, why: said.message } : knownLine(said, head, damaged);
      return { address, devices, ...known };
    });
    const current = servers.filter((server) => server.current).length;
    const head12 = head.id.slice(0, 12);
    return {
      json: { ring, version: head.ring.version, id: head.id, current, servers },
      lines: [
        `${ring} version ${head.ring.version} (${head12}): active on ${current} of ${servers.length} servers`,
        '',
        ...printTable(servers, [
          { head: 'SERVER', cell: ({ address }) => address },
          { head: 'DEVICES', cell: ({ devices }) => devices.map((id) => `d${id}`).join(' ') },
          { head: 'VERSION', cell: ({ version }) => version ?? '-' },
          { head: 'ID', cell: ({ id }) => id?.slice(0, 12) ?? '-' },
          { head: 'SINCE', cell: sinceOf },
          { head: 'DISK', cell: onDisk },
          { head: 'ON OLDER', cell: onOlder },
          { head: 'ROWS', cell: ({ rows }) => rows },
          { head: 'BYTES', cell: ({ bytes }) => bytes },
          { head: 'STATE', cell: stateOf },
        ]),
      ],
      next: context.next(nextWords(ring, servers)),
    };
  },
};

function nextWords(ring: string, servers: readonly ServerLine[]): string {
  if (servers.some(({ fork }) => fork?.settled === null)) return `settle ${ring} -m REASON`;
  return `${servers.every(({ current }) => current) ? 'status' : 'push'} ${ring}`;
}

/** The server looks at its files first. What it cannot say here, its status says. */
async function damagedAt(
  address: string,
  ring: string,
  nowMs: number,
): Promise<ReadonlyMap<number, string>> {
  try {
    return (await lookAtFiles(address, ring, nowMs)).damaged;
  } catch (error) {
    if (error instanceof CodedError) return new Map();
    throw error;
  }
}

function knownLine(
  said: RingStatus,
  head: StoredVersion,
  damaged: ReadonlyMap<number, string>,
): Omit<ServerLine, 'address' | 'devices'> {
  const { version, id, sinceMs, disk, requests, rows, bytes, fork, refusal } = said;
  return {
    ...{ version, id, sinceMs, disk, requests, rows, bytes, fork, refusal },
    freshness: said.freshness.state,
    current: id === head.id,
    ready: said.notReady === 0,
    damaged: [...damaged].map(([partition, reason]) => ({ partition, reason })),
    why: [...damageText(damaged), ...whyNot(said, head)].join(', '),
  };
}

const absent = {
  version: null,
  id: null,
  sinceMs: null,
  disk: null,
  requests: [] as RingStatus['requests'],
  current: false,
  ready: false,
  rows: 0,
  bytes: 0,
  damaged: [] as RingStatus['damaged'],
  fork: null,
  freshness: null,
  refusal: '',
} as const;

function sinceOf({ sinceMs }: ServerLine): string {
  return sinceMs === null ? '-' : `${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
}

/** What a restart would take; its id where that is not the one in memory. */
function onDisk({ id, disk }: ServerLine): string {
  if (disk === null) return '-';
  return disk.id === id ? `${disk.version}` : `${disk.version} ${disk.id.slice(0, 12)}`;
}

/** Requests still in flight on versions below the one that is active. */
function onOlder({ version, requests }: ServerLine): number | string {
  if (version === null) return '-';
  const older = requests.filter((one) => one.version < version);
  return older.reduce((sum, { coordinated, answered }) => sum + coordinated + answered, 0);
}

function stateOf({ why, refusal }: ServerLine): string {
  const state = why === '' ? 'ok' : why;
  return refusal === '' ? state : `${state}; refused ${refusal}`;
}

function damageText(damaged: ReadonlyMap<number, string>): string[] {
  const [reason] = damaged.values();
  const files = damaged.size === 1 ? 'file' : 'files';
  return reason === undefined ? [] : [`${damaged.size} ${files} damaged: ${reason}`];
}

function whyNot(said: RingStatus, { ring, id }: StoredVersion): string[] {
  const behind = ring.version - said.version;
  const parts: string[] = [];
  if (behind > 0) parts.push(`${behind} ${behind === 1 ? 'version' : 'versions'} behind`);
  if (behind < 0) parts.push(`ahead of this repository: version ${said.version}`);
  if (behind === 0 && said.id !== id) parts.push('another ring of this version');
  if (said.fork?.settled === null) {
    parts.push(`FORK: version ${said.fork.version} is also ${said.fork.other.slice(0, 12)}`);
  }
  if (said.freshness.state === 'expired') parts.push('its beacon ran out: it drops nothing');
  const { disk } = said;
  if (disk?.id !== said.id) parts.push(`its disk names ${disk?.version ?? 'no'} version`);
  if (said.device === null) parts.push('its own device is not in the ring');
  if (said.notReady > 0) parts.push(`${said.notReady} partitions not ready`);
  if (said.draining.length > 0) parts.push(`${said.draining.length} partitions to give up`);
  return parts;
}
