// Tests the error of a write that cannot reach its level any more, while some devices have not
// answered yet.
import { CodedError } from '@ringwright/base/coded-error';
import { slotsOf } from '@ringwright/ring/slots-of';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { quorumWriteFor } from './quorum-write.ts';

const answers = {
  late: new CodedError('PEER_TIMEOUT', 'no answer'),
  full: new CodedError('DISK_FULL', 'no room'),
  broken: new TypeError('nothing there'),
  stored: { kind: 'stored' },
  open: null,
} as const;

/** Returns the error of a write at level all when the devices answer like this. */
function refusalOf(kinds: readonly (keyof typeof answers)[]): CodedError | null {
  const active = activeOn(servedRing({ devices: 3, power: 0, replicas: 3 }), 0);
  const errors: unknown[] = [];
  const write: DeviceCaller['write'] = ({ device }, _, onResult) => {
    const answer = answers[kinds[device] ?? 'open'];
    if (answer instanceof Error) onResult(device, null, answer);
    else if (answer !== null) onResult(device, answer, null);
  };
  const record = { partition: 0, key: Buffer.from('key'), value: null, ms: 1, tie: 1 };
  const slots = slotsOf(active.ring, 0);
  const devices = { write } as unknown as DeviceCaller;
  quorumWriteFor(devices, { active, slots, record, needed: 3 }, (_, error) => errors.push(error));
  const [error = null] = errors;
  return error instanceof CodedError ? error : null;
}

test.each([
  [['late', 'open', 'open'], 'refused or failed: 1, still open: 2', { acked: 0, open: 2 }],
  [['stored', 'late', 'open'], 'refused or failed: 1, still open: 1', { acked: 1, open: 1 }],
  [['full', 'stored', 'open'], 'refused or failed: 1, still open: 1', { acked: 1, open: 1 }],
  [['stored', 'stored', 'full'], 'refused or failed: 1, still open: 0', { acked: 2, open: 0 }],
] as const)('a write fails with the counts of the answers %j', (kinds, others, counted) => {
  const refusal = refusalOf(kinds);
  const message = `${counted.acked} of 3 slots acknowledged, 3 are needed (${others})`;
  expect(refusal).toMatchObject({ code: 'NOT_ENOUGH_REPLICAS', message });
  expect(refusal?.details).toMatchObject({ ...counted, slots: 3, needed: 3, outcome: 'unknown' });
});

test('a write waits for open answers while all others are certain refusals', () => {
  expect(refusalOf(['full', 'open', 'open'])).toBeNull();
});

test('of an error without a code an application sees a code alone', () => {
  const refusal = refusalOf(['full', 'broken', 'open']);
  const devices = { d0: 'DISK_FULL', d1: 'INTERNAL' };
  expect(refusal?.details).toMatchObject({ devices, outcome: 'unknown' });
});
