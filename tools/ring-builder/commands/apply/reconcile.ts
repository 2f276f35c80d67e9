// ring-builder reconcile: compares the head with the disks of its devices.

import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import { digestPartitionsMax, digests } from '@ringwright/wire/replication';
import type { Command } from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { askMoves } from '../../moves/ask-moves.ts';
import { moveRows } from '../../moves/move-rows.ts';
import { stuckOf } from '../../moves/stuck-moves.ts';
import { checkServerFiles } from '../../servers/ask-servers.ts';
import { countedTargets, type Target } from '../../servers/ring-targets.ts';
import { fanOut, withServer } from '../../servers/server-connection.ts';
import { serverStatus } from '../../servers/server-status.ts';
import {
  type SilentServer,
  silentExit,
  silentLines,
  silentServer,
  unnamedServer,
} from '../../servers/silent-servers.ts';
import {
  type DiskFile,
  type DiskFinding,
  type DiskFindingKind,
  type DiskListing,
  reconcileRing,
} from './reconcile-ring.ts';

/** --json lists all findings. */
const FINDINGS_SHOWN_MAX = 50;

/** From the most to the least urgent. */
const kinds: readonly DiskFindingKind[] = [
  'no-complete-copy',
  'damaged',
  'absent',
  'partial',
  'unassigned',
  'duplicated',
];

export const command: Command = {
  examples: [['$0 reconcile cities', 'exit code 1 if the disks differ from the ring']],
  run: async (args, context) => {
    const name = args.text('ring');
    const { ring, state, id } = await readVersion(context.rings, name, 'head');
    const targets = countedTargets(ring, state);
    const { listings, away } = await listDisks(ring, targets);
    const { findings, joining, slots, complete } = reconcileRing(ring, listings);
    const worst = findings.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
    const counts = kinds.map((kind) => of(kind, findings)).filter(({ count }) => count > 0);
    const first = worst[0];
    const statuses = await askMoves(ring, ring.moves.length > 0 ? targets : []);
    const stuck = stuckOf({ ring, state }, moveRows(ring, statuses), statuses);
    return {
      json: {
        ...{ ring: name, version: ring.version, id, slots, complete, joining, counts },
        findings: worst.map((one) => ({ ...one, command: context.next(one.command) })),
        away,
      },
      lines: [
        `${name} version ${ring.version}: ${
          listings.length === 0 && away.length > 0
            ? `no server answered, so the state of its ${counted(slots, 'slot')} is unknown`
            : `${complete} of ${counted(slots, 'slot')} with a complete file`
        }`,
        joining > 0 &&
          `${counted(joining, 'file')} more ${joining === 1 ? 'is' : 'are'} being filled by moves, as planned`,
        ...counts.map(
          ({ kind, count, bytes }) => `${kind}: ${counted(count, 'file')}, ${printBytes(bytes)}`,
        ),
        ...silentLines(away),
        stuck?.text,
        ...(worst.length === 0 ? [] : ['', ...table(worst.slice(0, FINDINGS_SHOWN_MAX))]),
        worst.length > FINDINGS_SHOWN_MAX && `… ${worst.length} in all`,
      ],
      next: context.next(
        first?.command ??
          (stuck?.isForGood === true ? stuck.command : null) ??
          (away.length > 0
            ? `servers ${name}`
            : `${ring.moves.length > 0 ? 'rollout' : 'status'} ${name}`),
      ),
      exit: findings.length > 0 || stuck !== null ? 1 : silentExit(away),
    };
  },
};

function of(
  kind: DiskFindingKind,
  findings: readonly DiskFinding[],
): { kind: DiskFindingKind; count: number; bytes: number } {
  const found = findings.filter((one) => one.kind === kind);
  return { kind, count: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function table(findings: readonly DiskFinding[]): string[] {
  return printTable(findings, [
    { head: 'PARTITION', cell: ({ partition }) => partition },
    { head: 'DEVICE', cell: ({ device }) => (device === null ? '-' : `d${device}`) },
    { head: 'FINDING', cell: ({ kind }) => kind },
    { head: 'BYTES', cell: ({ bytes }) => printBytes(bytes) },
    { head: 'WHY', cell: ({ why }) => why },
    { head: 'COMMAND', cell: ({ command }) => `ring-builder ${command}` },
  ]);
}

interface ListedDisks {
  readonly listings: readonly DiskListing[];
  readonly away: readonly SilentServer[];
}

/** The longest time a device needs to read the headers of thousands of files. */
const listTimeoutMs = 30_000;

async function listDisks(ring: Ring, targets: readonly Target[]): Promise<ListedDisks> {
  const listings: DiskListing[] = [];
  const away: SilentServer[] = [];
  await fanOut(targets, async ({ address, required }) => {
    const listing = await resultOrError(listDisk(ring, address));
    if (listing instanceof CodedError) {
      if (required) away.push(silentServer(address, listing));
    } else if (listing !== null) listings.push(listing);
    else if (required) away.push(unnamedServer(address));
  });
  return { listings: listings.sort((a, b) => a.device - b.device), away };
}

/** Returns null if the server is no device of the ring. Throws RING_UNKNOWN, PEER_UNREACHABLE, … */
async function listDisk(ring: Ring, address: string): Promise<DiskListing | null> {
  const { keyspace } = ring;
  // Checked first, so that a lost file is not listed as present.
  const { damaged } = await checkServerFiles(address, keyspace);
  const status = await serverStatus(address, { sizesOf: keyspace });
  const ringStatus = status.rings.find((one) => one.ring === keyspace);
  if (ringStatus === undefined)
    throw new CodedError('RING_UNKNOWN', `${address} has no ring ${keyspace}`);
  if (ringStatus.device === null) return null;
  const bytes = new Map(status.files ?? status.sizes ?? []);
  const partitions = [...bytes.keys()].filter((partition) => partition < ring.partitions);
  const files = new Map<number, DiskFile>();
  await withServer(address, async (server) => {
    for (let at = 0; at < partitions.length; at += digestPartitionsMax) {
      const part = partitions.slice(at, at + digestPartitionsMax);
      const request = { keyspace, ringVersion: ringStatus.version, partitions: part };
      const { holdings } = await server.call(digests, request, listTimeoutMs);
      for (const [index, holding] of holdings.entries()) {
        const partition = part[index];
        if (holding === null || partition === undefined) continue;
        const { state, rows } = holding;
        files.set(partition, { state, rows, bytes: bytes.get(partition) ?? 0 });
      }
    }
  });
  const draining = new Map(ringStatus.draining.map(({ partition, reason }) => [partition, reason]));
  const { quarantines } = ringStatus.held;
  const loads = ringStatus.loads.filter(({ assignment }) => assignment === null);
  const refills = new Map(loads.map(({ partition, reason }) => [partition, reason]));
  return { device: ringStatus.device, address, files, draining, damaged, quarantines, refills };
}
