// Finds what is wrong with one server of a ring. Pure.

import { counted } from '@ringwright/base/counted';
import type { ErrorCode } from '@ringwright/base/errors';
import { diskReserveBytes, diskReserveInodes } from '@ringwright/base/limits-store';
import { quoteOption } from '@ringwright/base/quote-command';
import { splitAddress } from '@ringwright/base/server-address';
import { printBytes } from '../cli/print-bytes.ts';
import { needsToken } from '../servers/advice-rows.ts';
import { commandsForRoom, lowerWeight } from '../servers/full-disk.ts';
import { asCommands, commandsWithout, ownersOf } from '../servers/gone-for-good.ts';
import { whyNotReady } from '../servers/not-ready.ts';
import type { RingStatus, ServerStatus } from '../servers/server-status.ts';
import { isHigherEpoch } from '../versions/other-line.ts';
import { peerTroubles } from './peer-troubles.ts';
import type { ReferenceHead } from './reference-head.ts';
import { unsignedText, versionGap } from './server-line.ts';
import type { Make, ServerReport } from './server-report.ts';
import type { Trouble, TroubleKind } from './trouble.ts';
import { trustTroubles } from './trust-troubles.ts';

/** Warns before writes are refused below diskReserveBytes: at twice that, or at 5 % of the disk. */
const diskLowBytes = 2 * diskReserveBytes;
const diskLowShare = 0.05;

type Lacking = (kind: TroubleKind, why: string, code: ErrorCode) => Trouble;

export function serverTroubles(
  head: ReferenceHead,
  server: ServerReport,
  nowMs: number,
): Trouble[] {
  const { address, status, ringStatus, seenBy } = server;
  const ring = head.ring.keyspace;
  const trouble: Make = (kind, why, command) => {
    return { ring, address, kind, why, command };
  };
  const lacking: Lacking = (kind, why, code) => {
    return { ring, address, kind, why, code, command: '' };
  };
  if (status instanceof Error) {
    const kind = needsToken.has(status.code) ? 'no access' : 'down';
    const [, ended] = /^the certificate (\S+) ended at /.exec(status.message) ?? [];
    if (ended !== undefined) return [trouble(kind, status.message, `certs rotate ${ended}`)];
    if (kind === 'no access' || seenBy === 0) return [lacking(kind, status.message, status.code)];
    const seenText = `${counted(seenBy, 'server has', 'servers have')} a connection to it`;
    const why = `${status.message}; ${seenText}`;
    return [{ ...trouble('down', why, `servers ${ring}`), hint: unseenHint }];
  }
  const troubles = [
    ...logTroubles(status, head.ring.keyspace, trouble),
    ...restoredTroubles(server, head.ring.keyspace, trouble),
    ...diskTroubles(status, { head, devices: devicesOf(server), trouble }),
    ...peerTroubles(server, head.ring, trouble),
    ...trustTroubles(status, { head, nowMs, demands: server.demands }, trouble),
  ];
  if (ringStatus instanceof Error)
    return [...troubles, lacking('inactive', ringStatus.message, ringStatus.code)];
  const make = { trouble, lacking, unnamed: unnamedTrouble(server, head.ring, trouble) };
  return [
    ...troubles,
    ...dataTroubles(ringStatus, server, trouble),
    ...versionTroubles(head, ringStatus, make),
  ];
}

/** Does not advise to remove a server that may be running. */
const unseenHint =
  'down: it is running, but this machine cannot reach it: check the network from here';

function dataTroubles(
  status: RingStatus,
  { devices }: Pick<ServerReport, 'devices'>,
  trouble: Make,
): Trouble[] {
  const { ring, damaged, held, draining, notReady, freshness } = status;
  const found: Trouble[] = [];
  const [first] = damaged;
  if (first !== undefined) {
    const why = `${counted(damaged.length, 'file')}; partition ${first.partition}: ${first.reason}`;
    found.push(trouble('damaged', why, `reconcile ${ring}`));
  }
  if (notReady > 0) found.push(trouble('not ready', refillLine(status), `reconcile ${ring}`));
  // A server that runs under another name than in the ring has to be started with that one. If its
  // drops were confirmed first, its files would not be complete any more.
  const isMisnamed = status.device === null && devices.length > 0;
  const waiting = isMisnamed ? 0 : held.drops + held.quarantines;
  if (waiting > 0) {
    const reason = draining[0]?.reason ?? '';
    const all = counted(waiting, 'file needs', 'files need');
    const why = `${all} confirmation to be dropped${reason === '' ? '' : `: ${reason}`}`;
    found.push(trouble('drops held', why, `trash ${ring} confirm`));
  }
  if (freshness.state === 'expired') {
    found.push(trouble('no beacon', 'its beacon has expired: it drops no files', `beacon ${ring}`));
  }
  return found;
}

function versionTroubles(
  head: ReferenceHead,
  status: RingStatus,
  {
    trouble,
    lacking,
    unnamed,
  }: { readonly trouble: Make; readonly lacking: Lacking; readonly unnamed: Trouble },
): Trouble[] {
  const { ring, fork, disk, refusal } = status;
  const found: Trouble[] = [];
  if (fork?.settled === null) {
    const why = `version ${fork.version} is ${fork.id.slice(0, 12)} and ${fork.other.slice(0, 12)}`;
    found.push(lacking('fork', why, 'RING_FORK'));
  }
  const isOther = isForked(head, status);
  const gap = isOther ? `version ${status.version} of another history` : versionGap(status, head);
  if (gap !== '') {
    const why = refusal === '' ? gap : `${gap}; refused ${refusal}`;
    found.push(lacking('inactive', why, gapCode(head, status)));
  } else if (status.device === null) {
    found.push(unnamed);
  } else if (disk?.id !== status.id) {
    const why = `its disk has ${disk === null ? 'no version' : `version ${disk.version}`}`;
    found.push(trouble('inactive', `${why}, and a restart would load that`, `push ${ring}`));
  }
  if (status.lacksSignature) found.push(lacking('unsigned', unsignedText, 'SIGNATURES_MISSING'));
  return found;
}

/** For a server that has the ring but does not find its own address and device name in it. */
function unnamedTrouble(
  { address, status, devices }: Pick<ServerReport, 'address' | 'status' | 'devices'>,
  { keyspace, devices: named }: ReferenceHead['ring'],
  trouble: Make,
): Trouble {
  const startedAs = status instanceof Error ? null : (status.device ?? null);
  const names = devices.map((id) => named[id]?.device ?? '');
  const ownAddress = status instanceof Error ? address : status.address;
  if (ownAddress !== address && names.length > 0) {
    const { ip, port } = splitAddress(ownAddress);
    const id = devices.find((one) => named[one]?.device === startedAs) ?? devices[0];
    const help = `set-device ${keyspace} d${id} ${quoteOption('ip', ip)} --port ${port}`;
    // Does not repeat the address in the ring, which the table has in a column of its own.
    const why = `its own address is ${ownAddress}, and not the one in the ring`;
    const ways = 'start it with that one as --advertise, or change the address in the ring';
    return trouble('inactive', `${why}: ${ways}`, help);
  }
  if (startedAs === null || names.length === 0) {
    return trouble('inactive', 'its own device is not in the ring', `status ${keyspace}`);
  }
  const why = `started as ${startedAs}, but the ring calls it ${names.join(', ')}`;
  const rename = `set-device ${keyspace} d${devices[0]} ${quoteOption('name', startedAs)}`;
  const help = names.length === 1 ? rename : `status ${keyspace}`;
  return trouble('inactive', `${why}: start it with that --device, or rename the device`, help);
}

function isForked({ ring, isOther, epoch }: ReferenceHead, status: RingStatus): boolean {
  return (
    status.version < ring.version && !isHigherEpoch(epoch, status.epoch ?? null) && isOther(status)
  );
}

/**
 * Returns the code with which the server would answer a push of the head, from its version and its
 * last refusal.
 */
function gapCode(head: ReferenceHead, status: RingStatus): ErrorCode {
  const { ring, pushed } = head;
  const { version, id, fork, refusalCode } = status;
  // The ring here was never accepted, so it is the one that was refused.
  if (refusalCode === 'RING_FOREIGN' && !pushed) return 'RING_FOREIGN';
  if (isForked(head, status)) return 'RING_FORK';
  if (version > ring.version) return fork?.settled === null ? 'RING_FORK' : 'RING_OLDER';
  if (version === ring.version) {
    const settled = fork?.settled ?? null;
    const isLost = settled !== null && (version > settled.version || id === settled.id);
    return isLost ? 'RING_FORK_SETTLED' : 'RING_FORK';
  }
  // The refused ring came from another folder or a settled line, so it says nothing about the head.
  return pastCodes.has(refusalCode) ? 'RING_UNKNOWN' : (refusalCode ?? 'RING_UNKNOWN');
}

const pastCodes: ReadonlySet<ErrorCode | null> = new Set([
  'RING_OLDER',
  'RING_FORK',
  'RING_FORK_SETTLED',
]);

function refillLine(status: RingStatus): string {
  const why = whyNotReady(status);
  return `${counted(status.notReady, 'partition')}${why === '' ? '' : `; ${why}`}`;
}

/** Nothing is lost while the server keeps running, but its directory was changed from outside. */
function logTroubles({ logLoss }: ServerStatus, ring: string, trouble: Make): Trouble[] {
  if (logLoss === null || logLoss === undefined) return [];
  const timeText = new Date(logLoss.ms).toISOString().slice(0, 19);
  const why = `${timeText}Z: ${logLoss.reason}; it started a new log, no record is missing`;
  const hint =
    'log lost: find out who changed the data directory; a restart of that server clears the alarm';
  return [{ ...trouble('log lost', why, `reconcile ${ring}`), hint }];
}

/**
 * A server restored from a backup refills by itself, and clears this state when it has met all its
 * peers.
 */
function restoredTroubles(
  { status, ringStatus }: ServerReport,
  ring: string,
  trouble: Make,
): Trouble[] {
  if (status instanceof Error || status.putBack !== true) return [];
  const isComplete = !(ringStatus instanceof Error) && ringStatus.notReady === 0;
  const missing = status.peers.flatMap((peer) => (peer.connected ? [] : [peer.address]));
  const waits = isComplete && missing.length > 0 ? `; it is waiting for ${missing.join(' ')}` : '';
  const why = `its data was restored from an older backup: it is refilling from the others${waits}`;
  const hint = 'put back: let it refill; for a lost disk, an empty directory is enough';
  return [{ ...trouble('put back', why, `${isComplete ? 'servers' : 'reconcile'} ${ring}`), hint }];
}

/** Returns the server's device, or all devices at its address if it does not say which it is. */
function devicesOf({ ringStatus, devices }: ServerReport): readonly number[] {
  if (ringStatus instanceof Error) return devices;
  return ringStatus.device === null ? [] : [ringStatus.device];
}

/**
 * `unwritable`: all writes that this server coordinates fail, because stamps need `clock.json`, or
 * its disk hangs.
 * `disk full`: writes are refused now. `disk low`: they soon will be. A lower weight helps both.
 */
function diskTroubles(
  { disk }: ServerStatus,
  server: Pick<ServerReport, 'devices'> & { readonly head: ReferenceHead; readonly trouble: Make },
): Trouble[] {
  if (disk === undefined) return [];
  const { head, devices, trouble } = server;
  const { freeBytes, totalBytes, freeInodes, unwritable = null } = disk;
  if (unwritable !== null) {
    const hint =
      'unwritable: ls -ld, lsattr -d and findmnt -T of that directory show its owner, mode, ' +
      'attributes and mount, and the system log shows a disk that hangs; ' +
      'the server continues by itself when it can be written again';
    return [{ ...trouble('unwritable', unwritable, `servers ${head.ring.keyspace}`), hint }];
  }
  if (typeof freeInodes === 'number' && freeInodes < diskReserveInodes) {
    const why = `${freeInodes} inodes free; writes are refused below ${diskReserveInodes}`;
    const hint = 'disk full: df -i shows the inodes; delete small files on that disk';
    return [{ ...trouble('disk full', why, `status ${head.ring.keyspace}`), hint }];
  }
  const isLow = freeBytes < diskLowBytes || freeBytes < diskLowShare * (totalBytes ?? 0);
  if (!isLow) return [];
  const { keyspace } = head.ring;
  const ring = { ...head.ring, components: head.components };
  const all = totalBytes === undefined ? '' : ` of ${printBytes(totalBytes)}`;
  const free = `${printBytes(freeBytes)} free${all}`;
  const reserve = printBytes(diskReserveBytes);
  if (totalBytes !== undefined && totalBytes < diskReserveBytes) {
    const why = `a disk of ${printBytes(totalBytes)} refuses writes: ${reserve} must stay free`;
    if (devices.length === 0) return [trouble('disk full', why, `status ${keyspace}`)];
    const commands = commandsWithout(ring, devices);
    const hint = `use a larger disk, or ${asCommands(commands)}`;
    return [{ ...trouble('disk full', why, commands[0]), hint }];
  }
  // With several devices at the address, the owner of the disk is unknown.
  const [owner] = devices.length === 1 ? ownersOf(ring, devices) : [];
  const lower = owner === undefined ? `set-weight ${keyspace} DEVICE WEIGHT` : lowerWeight(owner);
  if (freeBytes >= diskReserveBytes) {
    return [trouble('disk low', `${free}; writes stop at ${reserve}`, lower)];
  }
  const why = `${free}; writes are refused below ${reserve}`;
  const [first = lower, ...rest] = commandsForRoom(ring, devices);
  const hint = `free space on the disk, or ${asCommands([first, ...rest])}`;
  return [{ ...trouble('disk full', why, first), hint }];
}
