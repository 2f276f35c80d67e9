// Tests the table of advice, which names the command to type next, row by row.
import { type ErrorCode, errorCatalogue } from '@ringwright/base/errors';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import { expect, test } from 'vitest';
import { moveVersions, servedRing } from '../../../test/support/served-ring.ts';
import { parseCommandLine } from '../command-line.ts';
import { nameRings } from '../name-rings.ts';
import { adviceOn, adviceOnCode, isFinal, worstOf } from './advice.ts';
import type { AdviceContext, ServerFailure } from './advice-rule.ts';
import { serverFailuresOf } from './push-to-targets.ts';

const at = (device: number, code: ErrorCode): ServerFailure => {
  return { address: `127.0.0.1:620${device}`, devices: [device], code };
};
const still: AdviceContext = { ring: servedRing({ replicas: 2 }), pushed: true, signing: 'off' };
// The first slot of partition 2 moves from d2 to d1.
const [, ring] = moveVersions(servedRing({ replicas: 2 }), [
  { partition: 2, replica: 0, from: 2, to: 1 },
]);
const moving = { ...still, ring };
const missing = { ...still, signing: 'missing' } as const;
const signed = { ...still, signing: 'on' } as const;
const { version } = still.ring;

test.each<[ErrorCode, AdviceContext, string, string]>([
  ['RING_FORK', still, 'settle cities -m REASON', '--from 127.0.0.1:6201 --replace takes it over'],
  [
    'RING_FORK_SETTLED',
    still,
    'restore cities --from 127.0.0.1:6201 --replace',
    'settled in favor',
  ],
  ['RING_OLDER', still, 'restore cities --from 127.0.0.1:6201 --replace', 'git pull'],
  ['RING_OLDER', { ...still, head: version + 1 }, 'push cities', `revert cities ${version} makes`],
  ['ACCESS_OLDER', still, 'access list', 'trust/access.json'],
  ['RING_FOREIGN', still, 'show cities', 'another ring'],
  ['RING_AUDIT_FAILED', still, 'verify cities', 'breaks a rule'],
  ['SIGNATURES_MISSING', still, 'key list', 'copy its trust.json'],
  ['SIGNATURES_MISSING', missing, "commit cities -m 'signed from here on'", 'a signed version'],
  ['SIGNATURES_MISSING', signed, 'key list', `ring-builder sign cities ${version} adds`],
  ['BRAKE', signed, `revert cities ${version - 1}`, 'a signature does not help'],
  ['TRUST_FORK', signed, 'key list', '--trust'],
  ['BEACON_EXPIRED', signed, 'beacon cities', 'allows drops'],
  ['RING_FORMAT_UNKNOWN', still, 'rollout cities', 'older release'],
  ['ACCESS_PENDING', still, 'push cities', 'have no access document yet'],
  [
    'ACCESS_PENDING',
    { ...still, access: { version: 1, missing: 0 } },
    'push cities',
    'a push sends',
  ],
  ['ACCESS_PENDING', { ...still, access: { version: 1, missing: 1 } }, 'access sign', 'lacks 1'],
  ['ACCESS_PENDING', { ...still, access: null }, 'access list', 'access grant NAME'],
  ['TRUST_UNKNOWN', signed, 'key trust', '127.0.0.1:6201 trusts no root'],
  ['TRUST_EXPIRED', signed, 'key trust --days 731', 'push cities also sends'],
  ['PEER_UNPROVEN', still, 'set-device cities d1 --ask-key', 'its key is new'],
  ['PEER_FAILED', still, 'push cities', 'set-device cities d1 --port PORT, then commit'],
  ['PEER_FAILED', moving, 'rollout cities', 'stop what listens there'],
  ['DISK_FULL', still, 'push cities', 'free space on the disk of 127.0.0.1:6201, where 268.4 MB'],
  [
    'DISK_FULL',
    moving,
    'rollout cities',
    "moves cities cancel d1 && ring-builder set-weight cities d1 WEIGHT && ring-builder commit cities -m 'a disk is full'",
  ],
  ['RING_UNKNOWN', still, 'push cities', 'did not receive'],
  ['RING_UNKNOWN', moving, 'rollout cities', 'did not receive'],
  ['RING_UNKNOWN', { ...still, taken: 'some' }, 'push cities', 'did not receive it or lost it'],
  ['RING_UNKNOWN', { ...still, taken: 'all' }, 'reconcile cities', 'lost this version'],
  ['WIRE_VERSION_UNKNOWN', still, 'push cities --keep-going', 'log'],
  ['PEER_TIMEOUT', still, 'servers cities', 'remove cities d1 && ring-builder commit'],
  ['PEER_TIMEOUT', still, 'servers cities', 'replace cities d1 NEW instead of the remove'],
  ['PEER_UNREACHABLE', moving, 'rollout cities', 'start 127.0.0.1:6201, then ring-builder rollout'],
  ['PEER_UNREACHABLE', moving, 'rollout cities', 'replace cities d1 NEW instead'],
  [
    'PEER_UNREACHABLE',
    moving,
    'rollout cities',
    'if it will not come back: ring-builder moves cities cancel d1 && ring-builder remove cities d1',
  ],
  ['PEER_UNREACHABLE', { ...still, pushed: false }, 'push cities', 'start 127.0.0.1:6201, then'],
  [
    'PEER_UNREACHABLE',
    { ...still, pushed: false },
    'push cities',
    'set-device cities all --ask-key',
  ],
])('%s leads to its next command (row %#)', async (...[code, situation, command, text]) => {
  const advice = adviceOn(situation, [at(1, code)]);
  expect(advice).toEqual({ command, text: expect.stringContaining(text) });
  const typed = command.replaceAll("'", '').split(' ');
  const whole = command.includes("'") ? [...typed.slice(0, 3), 'signed from here on'] : typed;
  expect(await parseCommandLine(whole)).toMatchObject({ kind: 'run' });
});

test('the advice on a fork adds this folder to no command for another folder', () => {
  const text = adviceOn(still, [at(1, 'RING_FORK')])?.text ?? '';
  const naming = { ringsOption: ' --rings HERE', serverOptions: '', ring: 'cities' };
  const folders = nameRings(text, naming).matchAll(/ring-builder (\w+) .*?--rings (\w+)/g);
  expect(Array.from(folders, ([, command, folder]) => [command, folder])).toEqual([
    ['servers', 'HERE'],
    ['settle', 'RIGHT'],
    ['restore', 'OTHER'],
  ]);
});

test('the advice is about the worst error and names the servers that have it', () => {
  const all = [at(0, 'PEER_UNREACHABLE'), at(1, 'RING_FORK'), at(2, 'SIGNATURES_MISSING')];
  expect(worstOf(all)).toEqual([all[1]]);
  expect(adviceOn(still, all)?.text).not.toMatch(/remove|start/);
  const away = adviceOn(still, [at(0, 'PEER_TIMEOUT'), at(2, 'PEER_UNREACHABLE')]);
  expect(away?.text).toMatch(/^start 127.0.0.1:6200 127.0.0.1:6202: .* remove cities d0 d2 /);
  expect(adviceOn(still, [])).toBeNull();
  const everyone = [0, 1, 2, 3].map((id) => at(id, 'PEER_UNREACHABLE'));
  expect(adviceOn(moving, everyone)).toMatchObject({ command: 'rollout cities' });
  expect(adviceOn(moving, everyone)?.text).not.toMatch(/skip-down|remove/);
  const source = adviceOn(moving, [at(2, 'PEER_UNREACHABLE')])?.text;
  expect(source).toMatch(/other holders fill 1 slot in its place.* ring-builder remove cities d2/);
});

test('a disk that was started at the address of another device is to be started at its own', () => {
  const keys = ['A', 'B'].map((letter) => `MCowBQYDK2VwAyEA${letter.repeat(42)}A=`);
  const keyed = keys.map((key, id) => ({ ...still.ring.devices[id]!, key }));
  const devices = [...keyed, ...still.ring.devices.slice(2)];
  const situation = { ...still, ring: { ...still.ring, devices } };
  const [first, second] = [at(0, 'PEER_UNPROVEN'), at(1, 'PEER_UNPROVEN')];
  expect(adviceOn(situation, [{ ...second, key: keyIdOf(keys[0]!) }])).toEqual({
    command: 'servers cities',
    text: 'the disk of d0 is at 127.0.0.1:6201: start it at 127.0.0.1:6200, as the ring says',
  });
  expect(adviceOn(situation, [{ ...first, key: 'f'.repeat(64) }])?.command).toBe(
    'set-device cities d0 --ask-key',
  );
});

test('restore is advised if all servers refuse a push because of another history', () => {
  const { length } = still.ring.devices;
  const refused = Array.from({ length }, (_, id) => ({ ...at(id, 'RING_FORK'), required: true }));
  const restore = 'restore cities --from 127.0.0.1:6200 --replace';
  expect(adviceOn(still, serverFailuresOf(refused))?.command).toBe(restore);
  expect(adviceOn(still, serverFailuresOf(refused.slice(1)))?.command).toBe(
    'settle cities -m REASON',
  );
});

test.each(['RING_FORK', 'RING_OLDER', 'RING_FOREIGN'] as const)(
  '%s advises another name only for a ring that was never pushed',
  (code) => {
    const text = (pushed: boolean) => adviceOn({ ...still, pushed }, [at(1, code)])?.text;
    expect(text(false)).toContain('in place of an earlier cities');
    expect(text(true)).not.toContain('another name');
  },
);

test('no advice is to remove a device that is already removed or still needed', () => {
  const gone = [at(1, 'PEER_UNREACHABLE')];
  const removed = adviceOn({ ...still, removed: [1] }, gone);
  expect(removed?.command).toBe('plan cities');
  expect(removed?.text).toMatch(/^127.0.0.1:6201 was removed but still has slots: /);
  const components = ['east', 'west'].map((name) => {
    return { ring: name, version: 1, id: '', replicas: 1, devices: [] };
  });
  const composite = { ...still, removed: [1], components };
  expect(adviceOn(composite, gone)?.command).toBe('compose cities east west');
  const full = adviceOn({ ...still, ring: servedRing({ replicas: 4 }) }, gone)?.text;
  expect(full).toMatch(
    /; if it will not come back, replace it: ring-builder replace cities d1 NEW$/,
  );
});

test('a large change needs a second signature, without asking a server', () => {
  const { command, text } = adviceOnCode(signed, 'BRAKE');
  expect([command, text]).toEqual([
    `sign cities ${version}`,
    'another person with a ring key must sign it',
  ]);
});

test('a refused beacon leads to the command that compares the clocks', () => {
  const { command, text } = adviceOnCode(signed, 'BEACON_REFUSED');
  expect([command, text]).toEqual(['health cities', expect.stringMatching(/^the clock of this/)]);
});

test('no advice is to remove every device of a ring, and a long list of servers is cut', () => {
  const all = still.ring.devices.map((device) => at(device!.id, 'PEER_UNREACHABLE'));
  expect(adviceOn(still, all)?.text).not.toContain('remove');
  expect(adviceOn(still, all)?.text).toMatch(/ and 1 more, then/);
  const single = { ...still, ring: servedRing({ replicas: 1 }) };
  expect(adviceOn(single, all.slice(1))?.text).toContain('remove cities d1 d2 d3 ');
});

test('refusals by safety rules are final, errors that may pass are not, all have advice', () => {
  for (const code of ['RING_FORK', 'RING_OLDER', 'RING_FOREIGN', 'RING_AUDIT_FAILED'] as const) {
    expect(isFinal(code)).toBe(true);
  }
  expect(isFinal('SIGNATURES_MISSING')).toBe(true);
  for (const code of ['PEER_UNREACHABLE', 'DISK_FULL', 'BEACON_REFUSED'] as const) {
    expect(isFinal(code)).toBe(false);
  }
  for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
    expect(adviceOn(still, [at(1, code)])?.command).toMatch(/./);
  }
});

test('the advice for a typed address that is not in the ring is to start that server', () => {
  const typed: ServerFailure = {
    address: '127.0.0.9:31999',
    devices: [],
    code: 'PEER_UNREACHABLE',
  };
  for (const situation of [still, { ...still, pushed: false }]) {
    expect(adviceOn(situation, [typed])).toEqual({
      command: 'push cities --to 127.0.0.9:31999',
      text: expect.stringMatching(/^start 127.0.0.9:31999, which is not in the ring; .* --ca/),
    });
  }
});
