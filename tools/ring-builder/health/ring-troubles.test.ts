// Tests what counts as trouble, and the exit code for it. The servers' answers are made up, with
// one deviation at a time.
import { CodedError } from '@ringwright/base/coded-error';
import { diskReserveBytes, diskReserveInodes } from '@ringwright/base/limits-store';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { wellOf } from '../../../test/support/ring-status.ts';
import { idOf, moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import type { RingStatus, ServerStatus } from '../servers/server-status.ts';
import { troublesOfRing } from './ring-troubles.ts';
import { exitOf } from './trouble.ts';

const committedMs = Date.parse('2026-11-21T03:00:00Z');
const first = servedRing();
const GIB = 2 ** 30;

/** Judges servers of `ring` that are well, except for what `lie` says of the second one. */
function judge(
  ring: Ring,
  lie: (ring: RingStatus) => Partial<RingStatus> | null | CodedError = () => ({}),
  world: {
    readonly freeBytes?: number;
    readonly totalBytes?: number;
    readonly unwritable?: string;
    readonly freeInodes?: number | null;
    readonly laterMs?: number;
    readonly refusals?: ServerStatus['refusals'];
    readonly pushed?: boolean;
    /** Whether the second server has no connection to the first. */
    readonly isApart?: boolean;
    readonly peers?: ServerStatus['peers'];
    /** Version of the second server's root of trust; the folder has version 2. */
    readonly rootVersion?: number;
    readonly uptimeMs?: number;
    /** Whether `lie` applies to all servers, not only to the second. */
    readonly isAll?: boolean;
    readonly logLoss?: ServerStatus['logLoss'];
    readonly putBack?: boolean;
    /** The second server's --device. */
    readonly startedAs?: string;
    /** The address that the second server was started with. */
    readonly ownAddress?: string;
    readonly demandsTrust?: boolean;
    /** Whether the log of the folder has another version 1 than a server names. */
    readonly isOther?: boolean;
    /** Days after the commit at which the second server's root and certificate end. */
    readonly endsAfter?: { readonly root: number; readonly certificate: number };
  } = {},
) {
  const answers = new Map<string, ServerStatus | CodedError>();
  for (const device of ring.devices) {
    const { id, ip, port } = device!;
    const address = `${ip}:${port}`;
    const well = wellOf(ring, id);
    const said = id === 1 || world.isAll === true ? lie(well) : {};
    const freeBytes = id === 1 ? (world.freeBytes ?? 50 * GIB) : 50 * GIB;
    const rings = said === null || said instanceof CodedError ? [] : [{ ...well, ...said }];
    const totalBytes = id === 1 ? (world.totalBytes ?? 100 * GIB) : 100 * GIB;
    const freeInodes = id === 1 ? (world.freeInodes ?? null) : null;
    const unwritable = id === 1 ? world.unwritable : null;
    const disk = { freeBytes, totalBytes, freeInodes, unwritable };
    const refusals = id === 1 ? (world.refusals ?? []) : [];
    const logLoss = id === 1 ? world.logLoss : null;
    const ends = id === 1 ? world.endsAfter : undefined;
    const signed = world.demandsTrust === true || world.endsAfter !== undefined ? [{}] : null;
    const trust =
      ends === undefined
        ? signed
        : [{ version: world.rootVersion ?? 2, expires: afterDays(ends.root) }];
    const certificate =
      ends === undefined
        ? null
        : { names: 'IP Address:127.0.0.1', ends: afterDays(ends.certificate) };
    const apart = { address: '127.0.0.1:6200', connected: !(id === 1 && world.isApart === true) };
    const peers = [apart, ...(world.peers ?? [])];
    const ownAddress = id === 1 ? (world.ownAddress ?? address) : address;
    const known = {
      address: ownAddress,
      ready: true,
      rings,
      peers,
      uptimeMs: world.uptimeMs ?? 600_000,
    };
    const startedAs = id === 1 ? (world.startedAs ?? null) : null;
    const putBack = id === 1 && world.putBack === true;
    const data = { disk, refusals, logLoss, putBack };
    const status = { ...known, device: startedAs, ...data, trust, certificate };
    answers.set(address, said instanceof CodedError ? said : status);
  }
  const standing = { pushed: world.pushed ?? true, signing: 'off' } as const;
  const line = {
    isOther: (known: { readonly version: number }) => world.isOther === true && known.version === 1,
    epoch: null,
    committedMs,
    fault: null,
    access: null,
    signatures: null,
    root: { cluster: 'default', version: 2 },
  };
  const head = { ring, id: idOf(ring), targets: ringTargets(ring, null), ...line, ...standing };
  return troublesOfRing(head, answers, committedMs + (world.laterMs ?? 0));
}

const afterDays = (days: number): string => new Date(committedMs + days * 86_400_000).toISOString();

const away = new CodedError('PEER_UNREACHABLE', '127.0.0.1:6201 cannot be reached');
const stranger = new CodedError('TOKEN_MISSING', 'this needs a token with metrics or operator');
const ended = new CodedError('TOKEN_REFUSED', 'the certificate ada ended at 2026-11-01T00:00:00Z');
const fork = { version: 1, id: 'a'.repeat(64), other: 'b'.repeat(64), from: 'x', atMs: 0 };
const settled = { version: 2, id: 'a'.repeat(64), reason: 'seen' };
const settle = 'settle cities -m REASON';
const restore = 'restore cities --from 127.0.0.1:6201 --replace';
const other = { version: 1, id: 'f'.repeat(64) };

test('servers that are well cause no trouble', () => {
  const { servers, reached, current, troubles } = judge(first);
  expect({ servers, reached, current, troubles }).toEqual({
    ...{ servers: 4, reached: 4, current: 4, troubles: [] },
  });
  expect(exitOf([])).toBe(0);
});

test.each<[string, Parameters<typeof judge>[1], string, string, 1 | 4]>([
  ['a server that does not answer', () => away, 'down', 'servers cities', 4],
  ['a server that wants a token', () => stranger, 'no access', 'access list', 1],
  ['a certificate that ended', () => ended, 'no access', 'certs rotate ada', 1],
  ['a server without the ring', () => null, 'inactive', 'push cities', 1],
  ['one on an older version', () => ({ version: 0 }), 'inactive', 'push cities', 1],
  ['another ring of the version', () => ({ ...other, disk: other }), 'inactive', settle, 1],
  [
    'the line that was settled over this one',
    () => ({ ...other, disk: other, fork: { ...fork, settled: { ...other, reason: '' } } }),
    'inactive',
    restore,
    1,
  ],
  ['one on a newer version', () => ({ version: 2 }), 'inactive', restore, 1],
  ['one that is another device', () => ({ device: null }), 'inactive', 'status cities', 1],
  ['a disk with another ring', () => ({ disk: other }), 'inactive', 'push cities', 1],
  ['a fork', () => ({ fork: { ...fork, settled: null } }), 'fork', 'settle cities -m REASON', 1],
  ['partitions not ready', () => ({ notReady: 2 }), 'not ready', 'reconcile cities', 1],
  [
    'drops that wait',
    () => ({ held: { drops: 3, quarantines: 1 } }),
    'drops held',
    'trash cities confirm',
    1,
  ],
  [
    'a damaged file',
    () => ({ damaged: [{ partition: 3, reason: 'data.db is gone' }] }),
    'damaged',
    'reconcile cities',
    1,
  ],
  [
    'a beacon that ran out',
    () => ({ freshness: { state: 'expired', version: 1 } }),
    'no beacon',
    'beacon cities',
    1,
  ],
])('a trouble is reported for %s', (...[, lie, kind, command, exit]) => {
  const { troubles } = judge(first, lie);
  expect(troubles).toMatchObject([{ ring: 'cities', address: '127.0.0.1:6201', kind, command }]);
  expect(exitOf(troubles)).toBe(exit);
});

test('a ring that was never pushed is a trouble only if some server has it', () => {
  const unpushed = { pushed: false };
  const unknown = new CodedError('RING_UNKNOWN', '127.0.0.1:6201 has no ring cities');
  const nobody = judge(first, () => unknown, { ...unpushed, isAll: true });
  expect(nobody).toMatchObject({ given: false, servers: 4, current: 0, troubles: [] });
  const others = judge(first, () => null, unpushed);
  expect(others).toMatchObject({ given: true, troubles: [{ kind: 'inactive' }] });
});

test('a lost commit log is reported with its time and reason', () => {
  const { troubles } = judge(first, undefined, { logLoss: { ms: 0, reason: '7.log is gone' } });
  expect(troubles).toMatchObject([{ kind: 'log lost', address: '127.0.0.1:6201' }]);
  expect(troubles[0]?.why).toBe(
    '1970-01-01T00:00:00Z: 7.log is gone; it started a new log, no record is missing',
  );
  expect(exitOf(troubles)).toBe(1);
});

test('a data directory restored from a backup is reported with what it waits for', () => {
  const refills = judge(first, () => ({ notReady: 2 }), { putBack: true }).troubles;
  expect(refills).toMatchObject([
    { kind: 'put back', address: '127.0.0.1:6201', command: 'reconcile cities' },
    { kind: 'not ready' },
  ]);
  const peers = [{ address: '127.0.0.1:6299', connected: false }];
  const [waits] = judge(first, undefined, { putBack: true, peers }).troubles;
  expect(waits).toMatchObject({ kind: 'put back', command: 'servers cities' });
  expect(waits?.why).toMatch(/an older backup: .*; it is waiting for 127.0.0.1:6299$/);
});

test('a server started under another name than in the ring is reported with both names', () => {
  const { troubles } = judge(first, () => ({ device: null }), { startedAs: 'wrong' });
  const why =
    'started as wrong, but the ring calls it sd1: start it with that --device, or rename the device';
  expect(troubles).toMatchObject([{ why, command: 'set-device cities d1 --name wrong' }]);
  const { troubles: hostile } = judge(first, () => ({ device: null }), { startedAs: 'x; id' });
  expect(hostile).toMatchObject([{ command: "set-device cities d1 --name 'x; id'" }]);
  // It is not advised to let such a server drop its files.
  const held = { drops: 3, quarantines: 0 };
  const holding = judge(first, () => ({ device: null, held }), { startedAs: 'wrong' }).troubles;
  expect(holding).toMatchObject([{ kind: 'inactive', why }]);
});

test('a server started at another address than in the ring is reported with its own', () => {
  const world = { startedAs: 'sd1', ownAddress: '[::ffff:127.0.0.1]:6201' };
  const { troubles } = judge(first, () => ({ device: null }), world);
  const why =
    'its own address is [::ffff:127.0.0.1]:6201, and not the one in the ring: ' +
    'start it with that one as --advertise, or change the address in the ring';
  const command = 'set-device cities d1 --ip ::ffff:127.0.0.1 --port 6201';
  expect(troubles).toMatchObject([{ kind: 'inactive', why, command }]);
});

test('an unsigned ring is a trouble on a server that requires signatures', () => {
  const refusals = [{ keyspace: 'cities', code: 'SIGNATURES_MISSING', message: 'none' }];
  const unsigned = judge(first, () => ({ epoch: null }), { demandsTrust: true }).troubles;
  expect(unsigned).toMatchObject([{ kind: 'unsigned', command: 'key list' }]);
  expect(judge(first, () => ({ epoch: 1 }), { demandsTrust: true }).troubles).toEqual([]);
  expect(judge(first, () => ({ epoch: null })).troubles).toEqual([]);
  const without = judge(first, () => null, { refusals }).troubles;
  expect(without).toMatchObject([{ command: 'key list', why: 'SIGNATURES_MISSING: none' }]);
});

test('if no server ever took the ring, a refused one is another ring of the name', () => {
  const refusals = [{ keyspace: 'cities', code: 'RING_FOREIGN', message: 'no' }];
  for (const version of [first.version - 1, first.version, first.version + 1]) {
    const lie = () => ({ version, id: 'f'.repeat(64) });
    const other = judge(first, lie, { refusals, pushed: false }).troubles;
    expect(other).toMatchObject([{ kind: 'inactive', command: 'show cities' }]);
  }
  // After a push, the refused ring may have come from another folder.
  const ahead = judge(first, () => ({ version: first.version + 1 }), { refusals }).troubles;
  expect(ahead).toMatchObject([{ command: expect.stringContaining('restore cities') }]);
});

test('a settled fork, and a refusal on a server where the head is active, are no trouble', () => {
  expect(judge(first, () => ({ fork: { ...fork, settled } })).troubles).toEqual([]);
  const refusals = [{ keyspace: 'cities', code: 'RING_FORGED', message: 'no' }];
  expect(judge(first, undefined, { refusals }).troubles).toEqual([]);
  const behind = judge(first, () => ({ version: 0 }), { refusals }).troubles;
  expect(behind[0]?.why).toBe('1 version behind; refused RING_FORGED: no');
});

test.each([
  [100 * GIB, 6 * GIB, []],
  [100 * GIB, 4 * GIB, ['disk low set-weight cities d1 WEIGHT']],
  [0.4 * GIB, diskReserveBytes, ['disk low set-weight cities d1 WEIGHT']],
  [100 * GIB, diskReserveBytes - 1, ['disk full set-weight cities d1 WEIGHT']],
  [20_000_000, 20_000_000, ['disk full remove cities d1']],
])('a disk of %d bytes with %d free is low, full or neither', (totalBytes, freeBytes, wanted) => {
  const { troubles } = judge(first, undefined, { freeBytes, totalBytes });
  expect(troubles.map(({ kind, command }) => `${kind} ${command}`)).toEqual(wanted);
});

test('a disk with free bytes is full if it lacks inodes', () => {
  const { troubles } = judge(first, undefined, { freeInodes: diskReserveInodes - 1 });
  expect(troubles.map(({ kind, why }) => `${kind}: ${why}`)).toEqual([
    'disk full: 999 inodes free; writes are refused below 1000',
  ]);
  expect(judge(first, undefined, { freeInodes: diskReserveInodes }).troubles).toEqual([]);
});

test('a data directory that cannot be written is a trouble, whatever is free', () => {
  const unwritable = "EPERM: operation not permitted, access '/data'";
  const { troubles } = judge(first, undefined, { unwritable, freeBytes: 0 });
  expect(troubles.map(({ kind, why }) => `${kind}: ${why}`)).toEqual([`unwritable: ${unwritable}`]);
});

test('a trouble of a reached server decides the exit code, not an unreachable server', () => {
  const lost = judge(first, () => away).troubles;
  const wrong = judge(first, () => ({ notReady: 1 })).troubles;
  expect(exitOf([...lost, ...wrong])).toBe(1);
});

// The first slot of partition 2 moves from d2 to d1.
const start = servedRing({ replicas: 2 });
const [, moving] = moveVersions(start, [{ partition: 2, replica: 0, from: 2, to: 1 }]);
const assignment = moving.moves[0]!.assignment;
const load = (stage: RingStatus['loads'][number]['stage'], reason = ''): Partial<RingStatus> => ({
  loads: [
    {
      partition: 2,
      assignment,
      stage,
      bytes: 0,
      bytesTotal: 9,
      rows: 0,
      copiesVerified: 0,
      reason,
    },
  ],
});
const anHour = { laterMs: 3_600_000 };

test('moves to a disk without any room are cancelled before the device is removed', () => {
  const tiny = { freeBytes: 20_000_000, totalBytes: 20_000_000 };
  const [trouble] = judge(moving, undefined, tiny).troubles;
  expect(trouble).toMatchObject({ kind: 'disk full', command: 'moves cities cancel d1' });
  expect(trouble?.hint).toMatch(/cities cancel d1 && ring-builder remove cities d1$/);
});

test('moves to a full disk are cancelled before the weight of the device is lowered', () => {
  const full = { freeBytes: 20_000_000, totalBytes: 20_000_000_000 };
  const [trouble] = judge(moving, undefined, full).troubles;
  expect(trouble).toMatchObject({ kind: 'disk full', command: 'moves cities cancel d1' });
  expect(trouble?.hint).toMatch(/cities cancel d1 && ring-builder set-weight cities d1 WEIGHT$/);
  const [settled] = judge(servedRing(), undefined, full).troubles;
  expect(settled?.command).toBe('set-weight cities d1 WEIGHT');
});

test.each<[string, Partial<RingStatus>, typeof anHour | undefined, string | null]>([
  ['one that waits a moment', load('queued'), undefined, null],
  ['one that copies for an hour', load('copying'), anHour, null],
  ['a copy that nobody finalizes', load('available'), anHour, 'rollout cities'],
  ['one that waits for an hour', load('queued', 'no room: 9 MB'), anHour, 'rollout cities'],
  ['one that failed', load('failed', 'no room'), undefined, 'moves cities list'],
  ['one that is paused', { paused: [assignment] }, anHour, null],
])('a move counts as stalled or not: %s', (...[, lie, later, command]) => {
  const { troubles, inFlight } = judge(moving, () => lie, later);
  expect(inFlight).toBe(1);
  expect(troubles.map((one) => [one.kind, one.command])).toEqual(
    command === null ? [] : [['stalled', command]],
  );
  const { reason = '' } = lie.loads?.[0] ?? {};
  if (command !== null) expect(troubles[0]?.why).toContain(reason);
});

test('servers that are down are reported with the number of partitions without a quorum', () => {
  const whys = judge(first, () => away, { isAll: true }).troubles.map(({ why }) => why);
  expect(new Set(whys.map((why) => why.split('; ')[1]))).toEqual(
    new Set(['4 partitions have no quorum until servers that are down return']),
  );
  expect(judge(first, () => away).troubles[0]?.why).not.toContain('quorum');
});

test('each server that proves another key gets a hint of its own', () => {
  const unproven = new CodedError('PEER_UNPROVEN', 'another key', { details: { got: 'f' } });
  const { troubles } = judge(first, () => unproven, { isAll: true });
  for (const { address, command, hint } of troubles) {
    expect(command).toBe(`set-device cities d${address?.at(-1)} --ask-key`);
    expect(hint).toContain(`the right server is at ${address}.`);
  }
  expect(troubles).toHaveLength(4);
});

test('a move whose only source is unreachable is stalled, and the hint names the force', () => {
  const single = moveVersions(servedRing({ replicas: 1 }), [
    { partition: 1, replica: 0, from: 1, to: 3 },
  ])[1];
  const { troubles } = judge(single, () => away);
  expect(troubles.map(({ kind }) => kind)).toEqual(['stalled', 'down']);
  expect(troubles[0]?.hint).toContain('moves cities force all --reason TEXT');
});

test('a move to a server that is down adds no trouble of its own', () => {
  const { troubles } = judge(moving, () => away, anHour);
  expect(troubles.map(({ kind }) => kind)).toEqual(['down']);
});

test('a fork reported by servers that have the head is resolved with settle', () => {
  const told = (status: RingStatus) => ({ ...status, fork: { ...fork, settled: null } });
  const { troubles } = judge(first, told, { isAll: true });
  expect(new Set(troubles.map(({ command }) => command))).toEqual(new Set([settle]));
});

test('servers ahead that name another version of this log have the other history', () => {
  const ahead = { version: 2, fork: { ...fork, settled: null } };
  const { troubles } = judge(first, () => ahead, { isAll: true, isOther: true });
  const commands = troubles.flatMap(({ kind, command }) => (kind === 'fork' ? [command] : []));
  expect(new Set(commands)).toEqual(new Set(['restore cities --from 127.0.0.1:6200 --replace']));
});

test('servers that answer this machine but are not connected to each other are a trouble', () => {
  const [apart, ...others] = judge(first, undefined, { isApart: true }).troubles;
  expect(others).toEqual([]);
  expect(apart).toMatchObject({ kind: 'apart', address: '127.0.0.1:6201' });
  expect(apart?.why).toBe('it has no connection to 127.0.0.1:6200, which answers here');
  expect(judge(first, undefined, { isApart: true, uptimeMs: 5_000 }).troubles).toEqual([]);
});

test('a server without the ring is reported as inactive, not as apart', () => {
  const missed = { address: '127.0.0.1:6201', connected: false };
  const troubles = judge(first, () => null, { isApart: true, peers: [missed] }).troubles;
  expect(troubles).toMatchObject([{ kind: 'inactive', command: 'push cities' }]);
  expect(troubles[0]?.why).toBe('127.0.0.1:6201 has no ring cities');
});

test('the hint does not advise removing a server that other servers reach', () => {
  const seen = { address: '127.0.0.1:6201', connected: true };
  const [down] = judge(first, () => away, { peers: [seen] }).troubles;
  expect(down).toMatchObject({ kind: 'down', command: 'servers cities' });
  expect(down?.why).toContain('3 servers have a connection to it');
  expect(down?.hint).not.toContain('remove');
});

test('a ring without moves never stalls', () => {
  expect(judge(first, undefined, anHour).troubles).toEqual([]);
});

test.each<[number, number, string[]]>([
  [15, 31, []],
  [13, 31, ['trust ends: its root of trust ends on 2026-12-04; from then on it accepts no ring']],
  [15, 29, ['certificate ends: its certificate for IP Address:127.0.0.1 ends on 2026-12-20']],
  [
    -1,
    0,
    [
      'trust ends: its root of trust ended on 2026-11-20; from then on it accepts no ring',
      'certificate ends: its certificate for IP Address:127.0.0.1 ended on 2026-11-21',
    ],
  ],
])('a near end is reported: root in %d days, certificate in %d', (root, certificate, lines) => {
  const { troubles } = judge(first, undefined, { endsAfter: { root, certificate } });
  expect(troubles.map(({ kind, why }) => `${kind}: ${why}`)).toEqual(lines);
  const commands = { 'trust ends': 'key trust --days 731', 'certificate ends': 'certs list' };
  for (const { kind, command } of troubles) {
    expect(commands).toHaveProperty([kind], command);
  }
  expect(exitOf(troubles)).toBe(lines.length === 0 ? 0 : 1);
});

test('a server with an older root is reported as behind, not as about to expire', () => {
  const endsAfter = { root: 3, certificate: 300 };
  const { troubles } = judge(first, undefined, { endsAfter, rootVersion: 1 });
  expect(troubles).toMatchObject([{ kind: 'trust behind', command: 'push cities' }]);
});
