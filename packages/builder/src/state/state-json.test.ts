// Attack: any state survives the round trip, its bytes are unique, and damaged bytes are refused.
import { CodedError } from '@ringwright/base/coded-error';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BuilderState } from './builder-state.ts';
import { parseState, serializeState } from './state-json.ts';

const number = fc.double({ min: 0, max: 2 ** 32, noNaN: true }).map((value) => value + 0);
const whole = fc.nat();

const device = fc.record({
  region: whole,
  zone: whole,
  ip: fc.string(),
  port: whole,
  device: fc.string({ unit: 'binary' }),
  weight: number,
  meta: fc.string({ unit: 'binary' }),
  state: fc.constantFrom('active' as const, 'removed' as const),
});

const state: fc.Arbitrary<BuilderState> = fc
  .record({
    ring: fc.string(),
    cluster: fc.string(),
    partitioner: fc.oneof(
      fc.record({
        kind: fc.constant('md5-shift' as const),
        power: whole,
        prefix: fc.string(),
        suffix: fc.string(),
      }),
      fc.record({ kind: fc.constant('murmur3-mod' as const), partitions: whole, seed: whole }),
    ),
    replicas: number,
    minPartHours: whole,
    overload: number,
    devices: fc.array(fc.option(device), { maxLength: 20 }),
  })
  .map((fields) => ({
    ...fields,
    devices: fields.devices.map((one, id) => (one === null ? null : { id, ...one })),
  }));

test('any state survives the round trip, and gives the same bytes again', () => {
  fc.assert(
    fc.property(state, (one) => {
      const bytes = serializeState(one);
      const back = parseState(bytes);
      expect(back).toEqual(one);
      expect(serializeState(back)).toEqual(bytes);
    }),
  );
});

test.each([
  ['no JSON', '{'],
  ['another kind of value', '[]'],
  ['a missing field', '{"ring":"a"}'],
  ['bytes that are no UTF-8', '\u00ff'],
])('refuses %s', (_, text) => {
  const refuse = () => parseState(Buffer.from(text, 'latin1'));
  expect(refuse).toThrow(CodedError);
  expect(refuse).toThrow(/builder state/);
});

test('refuses a weight that no ring may have', () => {
  const partitioner = { kind: 'md5-shift' as const, power: 2, prefix: '', suffix: '' };
  const settings = { ring: 'a', cluster: 'c', partitioner, replicas: 1, minPartHours: 0 };
  const at = { region: 1, zone: 1, ip: '10.0.0.1', port: 6200, device: 'a', meta: '' };
  const heavy = { ...at, id: 0, weight: 1e308, state: 'active' as const };
  const bytes = serializeState({ ...settings, overload: 0, devices: [heavy] });
  expect(() => parseState(bytes)).toThrow(/devices.0.weight: expected at most/);
});
