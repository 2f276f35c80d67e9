// Tests reads and writes for which one device is enough, so that no answers have to be counted.

import { CodedError } from '@ringwright/base/coded-error';
import { slotsOf } from '@ringwright/ring/slots-of';
import { expect, test } from 'vitest';
import { activeOn, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import type { DeviceCaller, DeviceTarget, WriteCallback } from '../peers/device-caller.ts';
import { RingRequests } from '../rings/ring-requests.ts';
import { coordinateRead } from './coordinate.ts';
import { quorumWriteFor } from './quorum-write.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

const key = Buffer.from('key');
const failure = new CodedError('PARTITION_FILLING', 'not complete');
const record = { value: Buffer.from('v'), ms: 5, tie: 5 };

/** Reads at level one on device 0. Returns the devices that were queried, and the result. */
async function readAtOne(version: 'at rest' | 'moving', here: 'there' | 'later' | 'filling') {
  const first = servedRing({ devices: 4, power: 0 });
  const [moving] = moveVersions(first, [{ partition: 0, replica: 0, from: 0, to: 3 }]);
  const active = activeOn(version === 'at rest' ? first : moving, 0);
  const asked: number[] = [];
  const call = ({ device }: DeviceTarget): unknown => {
    asked.push(device);
    if (device === 0 && here === 'filling') return Promise.reject(failure);
    if (device === 0) return here === 'there' ? { record } : Promise.resolve({ record });
    return Promise.resolve({ record: { ...record, ms: 4 } });
  };
  const write = ({ device }: DeviceTarget, _: unknown, onResult: WriteCallback): void =>
    onResult(device, { kind: 'stored' }, null);
  const ports = {
    rings: { get: () => active },
    clock: { nowMs: () => 1, machineMs: () => 1e9 },
    requests: new RingRequests(),
    devices: { call, write } as unknown as DeviceCaller,
  } as unknown as CoordinatorPorts;
  const about = { keyspace: 'cities', key, consistency: 'one' } as const;
  const read = coordinateRead(ports, about);
  return { asked, isAtOnce: !(read instanceof Promise), ms: (await read)?.ms };
}

test('a read at level one is answered synchronously by the local device', async () => {
  expect(await readAtOne('at rest', 'there')).toEqual({ asked: [0], isAtOnce: true, ms: 5 });
});

test('a local device that answers in a later turn is queried once', async () => {
  expect(await readAtOne('at rest', 'later')).toEqual({ asked: [0], isAtOnce: false, ms: 5 });
});

test('a read at level one goes to another device while the local file is filling', async () => {
  const { asked, isAtOnce, ms } = await readAtOne('at rest', 'filling');
  expect({ last: asked.at(-1), isAtOnce, ms }).toEqual({ last: 1, isAtOnce: false, ms: 4 });
});

test('a read at level one does not rely on a local slot in flight alone', async () => {
  expect((await readAtOne('moving', 'there')).asked).toEqual([1]);
});

test.each([
  ['stored', null, null],
  ['stale', { ms: 9, tie: 9 }, null],
  ['promised', null, { d0: 'promised' }],
  ['failed', null, { d0: 'DISK_FULL' }],
] as const)('a write reports the answer of the only device: %s', (kind, newer, devices) => {
  const active = activeOn(servedRing({ devices: 1, power: 0, replicas: 1 }), 0);
  const answers = {
    stored: { kind: 'stored' },
    stale: { kind: 'stale', ms: 9, tie: 9 },
    promised: { kind: 'promised', ms: 9, tie: 9 },
    failed: null,
  } as const;
  const write: DeviceCaller['write'] = (_, __, onResult) =>
    onResult(0, answers[kind], kind === 'failed' ? new CodedError('DISK_FULL', 'full') : null);
  const results: unknown[] = [];
  const whole = { partition: 0, key, value: null, ms: 1, tie: 1 };
  const spread = { active, slots: slotsOf(active.ring, 0), record: whole, needed: 1 };
  quorumWriteFor({ write } as unknown as DeviceCaller, spread, (highest, error) =>
    results.push(highest, error),
  );
  const refused = {
    code: 'NOT_ENOUGH_REPLICAS',
    details: { acked: 0, devices, outcome: 'rejected' },
  };
  expect(results).toEqual([newer, devices === null ? null : expect.objectContaining({})]);
  if (devices !== null) expect(results[1]).toMatchObject(refused);
});
