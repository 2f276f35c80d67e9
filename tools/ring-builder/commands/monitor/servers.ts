// ring-builder servers: shows which version each server has in memory and on disk, since when, and
// why it is not the head.
import { must } from '@ringwright/base/assert';
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Command, Context } from '../../cli/command.ts';
import { untilHeadsRest } from '../../health/check-rings.ts';
import { judgedHead } from '../../health/reference-head.ts';
import { troublesOfRing } from '../../health/ring-troubles.ts';
import { type ServerLine, serverLine } from '../../health/server-line.ts';
import { exitOf, hintsOf, type Trouble, type TroubleKind } from '../../health/trouble.ts';
import { rateText } from '../../moves/copy-rates.ts';
import { askServers } from '../../servers/ask-servers.ts';
import { olderLines } from '../../servers/older-servers.ts';
import { ringIn } from '../../servers/server-status.ts';

interface Line extends ServerLine {
  readonly address: string;
  readonly devices: readonly number[];
}

export const command: Command = {
  examples: [['$0 servers cities', 'ask every server of the ring what it has in memory']],
  run: async (args, context) => {
    const ring = args.text('ring');
    const [judged] = await untilHeadsRest(context, async () => [await lookAt(context, ring)]);
    const { head, servers, troubles, given, first, older } = must(judged, 'one ring was asked for');
    const current = servers.filter((server) => server.current).length;
    const head12 = head.id.slice(0, 12);
    return {
      json: {
        ...{ ring, version: head.ring.version, id: head.id, current, servers },
        ...{ ok: troubles.length === 0, given, troubles, older },
      },
      lines: [
        `${ring} version ${head.ring.version} (${head12}): active on ${current} of ${counted(servers.length, 'server')}`,
        '',
        ...printTable(servers, [
          { head: 'SERVER', cell: ({ address }) => address },
          { head: 'DEVICES', cell: ({ devices }) => devices.map((id) => `d${id}`).join(' ') },
          { head: 'VERSION', cell: ({ version }) => version ?? '-' },
          { head: 'ID', cell: ({ id }) => id?.slice(0, 12) ?? '-' },
          { head: 'SINCE', cell: sinceOf },
          { head: 'DISK', cell: onDisk },
          { head: 'ON OLDER', cell: onOlder },
          { head: 'ROWS', cell: ({ version, rows }) => (version === null ? '-' : rows) },
          { head: 'BYTES', cell: ({ version, bytes }) => (version === null ? '-' : bytes) },
          { head: 'RATE', cell: rateText },
          { head: 'STATE', cell: stateOf },
        ]),
        !given && `${ring} was never pushed to a server`,
        ...troubles.flatMap(besideTable),
        ...hintsOf(troubles),
        ...olderLines(older),
      ],
      next: context.next(
        nextAfter(ring, troubles) ?? (given ? `status ${ring}` : (first ?? `push ${ring}`)),
      ),
      exit: exitOf(troubles),
    };
  },
};

async function lookAt(context: Context, ring: string) {
  const head = await readVersion(context.rings, ring, 'head');
  const reference = await judgedHead(context, head, await readLog(context.rings, ring));
  const { targets } = reference;
  const answers = await askServers(targets, new Set([ring]));
  const servers = targets.map(({ address, devices }): Line => {
    const ringStatus = ringIn(must(answers.get(address), `${address} was asked`), {
      address,
      ring,
    });
    return { address, devices, ...serverLine(ringStatus, head) };
  });
  const judged = troublesOfRing(reference, answers, context.nowMs());
  return { ...judged, ring, id: head.id, head, servers };
}

/** Skips advice to run this very command. Returns null if nothing else is left. */
function nextAfter(ring: string, troubles: readonly Trouble[]): string | null {
  return troubles.find(({ command }) => command !== `servers ${ring}`)?.command ?? null;
}

const beside: readonly TroubleKind[] = [
  ...(['stalled', 'unreadable', 'log lost', 'put back', 'apart', 'clock'] as const),
  ...(['unwritable', 'disk full', 'disk low', 'unprotected'] as const),
  ...(['trust behind', 'trust ends', 'certificate ends'] as const),
];

/** Returns troubles that the STATE column does not show. It shows an unsigned ring of a server. */
function besideTable({ kind, address, why }: Trouble): string[] {
  if (!beside.includes(kind) && !(kind === 'unsigned' && address === null)) return [];
  return [`${kind}${address === null ? '' : ` at ${address}`}: ${why}`];
}

function sinceOf({ sinceMs }: ServerLine): string {
  return sinceMs === null ? '-' : `${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
}

/** The version that a restart would load, with its id if it is not the one in memory. */
function onDisk({ id, disk }: ServerLine): string {
  if (disk === null) return '-';
  return disk.id === id ? `${disk.version}` : `${disk.version} ${disk.id.slice(0, 12)}`;
}

/** Counts requests in flight on versions below the active one. */
function onOlder({ version, requests }: ServerLine): number | string {
  if (version === null) return '-';
  const older = requests.filter((one) => one.version < version);
  return older.reduce((sum, { coordinated, answered }) => sum + coordinated + answered, 0);
}

function stateOf({ why, refusal }: ServerLine): string {
  const state = why === '' ? 'ok' : why;
  return refusal === '' ? state : `${state}; refused ${refusal}`;
}
