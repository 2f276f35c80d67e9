// Tests when a push has reached enough servers, for each rule and a small table.
import { expect, test } from 'vitest';
import { servedRing } from '../../../../test/support/served-ring.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { isEnough, type WaitRule } from './push.ts';

/** Four devices in four zones; partition p is on p, p + 1 and p + 2. */
const ring = servedRing();
const targets = ringTargets(ring, null);

const cases: [WaitRule, number[], boolean][] = [
  ['all', [0, 1, 2, 3], true],
  ['all', [0, 1, 2], false],
  ['quorum', [0, 1, 2], true],
  ['quorum', [0, 2], false],
  ['quorum', [], false],
  ['zone', [3], true],
  ['zone', [], false],
];
test.each(cases)('the rule %s with devices %j is met: %s', (rule, devices, wanted) => {
  const good = new Set(devices.map((id) => targets[id]!.address));
  expect(isEnough(rule, ring, { good, targets })).toBe(wanted);
});

test('the rule zone needs all devices of a zone', () => {
  const paired = {
    ...ring,
    devices: ring.devices.map((one) => one && { ...one, zone: one.id >> 1 }),
  };
  const good = (ids: number[]) => new Set(ids.map((id) => targets[id]!.address));
  expect(isEnough('zone', paired, { good: good([0, 2]), targets })).toBe(false);
  expect(isEnough('zone', paired, { good: good([2, 3]), targets })).toBe(true);
});

test('one of two slots is no quorum', () => {
  const two = servedRing({ replicas: 2, devices: 2 });
  const ends = ringTargets(two, null);
  expect(isEnough('quorum', two, { good: new Set([ends[0]!.address]), targets: ends })).toBe(false);
});
