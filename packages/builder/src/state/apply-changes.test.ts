// Attack: a refused change leaves the state as it was, and changes apply in order.
import { deviceWeightMax, deviceWeightMin, pinCountMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { refusal } from '../../../../test/support/refusal.ts';
import { applyChanges } from './apply-changes.ts';
import type { BuilderState } from './builder-state.ts';
import type { Change } from './change.ts';
import { createState } from './create-state.ts';
import { dropEmptyDevices } from './drop-empty-devices.ts';
import { parseState, serializeState } from './state-json.ts';

const settings = {
  ring: 'cities',
  cluster: 'test',
  partitioner: { kind: 'md5-shift', power: 8, prefix: '', suffix: '' },
  replicas: 3,
  minPartHours: 1,
  overload: 0,
} as const;

function device(id: number, fields: object = {}) {
  return {
    id,
    region: 1,
    zone: 1,
    ip: '10.0.0.1',
    port: 6200,
    device: `d${id}`,
    weight: 100,
    meta: '',
    ...fields,
  };
}

const add = (id: number, fields: object = {}): Change => ({
  kind: 'add',
  device: device(id, fields),
});

function threeDevices(): BuilderState {
  return applyChanges(createState(settings), [add(0), add(1), add(2)]);
}

const refused: readonly (readonly [string, Change, string, string])[] = [
  ['an id beyond the list', { kind: 'remove', id: 7 }, 'DEVICE_UNKNOWN', 'd7'],
  ['a twin address', add(3, { device: 'd1', zone: 9 }), 'DEVICE_DUPLICATE', 'd1'],
  ['an id that is not next', add(5), 'DEVICE_INVALID', '5 is not the next one, 3'],
  ['a negative weight', add(3, { weight: -1 }), 'VALUE_OUT_OF_RANGE', '-1'],
  ['weight NaN', { kind: 'set-weight', id: 1, weight: NaN }, 'VALUE_OUT_OF_RANGE', 'NaN'],
  [
    'a weight above the limit',
    { kind: 'set-weight', id: 1, weight: deviceWeightMax * 2 },
    'VALUE_OUT_OF_RANGE',
    `${deviceWeightMax}`,
  ],
  ['a weight without digits', add(3, { weight: 5e-324 }), 'VALUE_OUT_OF_RANGE', '5e-324'],
  [
    'a weight below the limit',
    { kind: 'set-weight', id: 1, weight: deviceWeightMin / 2 },
    'VALUE_OUT_OF_RANGE',
    `${deviceWeightMin}`,
  ],
  ['port 0', add(3, { port: 0 }), 'DEVICE_INVALID', 'port'],
  ['a zone that is no number', add(3, { zone: 'z1' }), 'DEVICE_INVALID', 'zone'],
  ['a slash in the name', add(3, { device: 'a/b' }), 'DEVICE_INVALID', 'device'],
  [
    'renaming onto a twin',
    { kind: 'set-device', id: 1, fields: { device: 'd2' } },
    'DEVICE_DUPLICATE',
    'd2',
  ],
  [
    'min-part-hours -1',
    { kind: 'set', settings: { minPartHours: -1 } },
    'VALUE_OUT_OF_RANGE',
    '-1',
  ],
  [
    'min-part-hours 1.5',
    { kind: 'set', settings: { minPartHours: 1.5 } },
    'VALUE_OUT_OF_RANGE',
    '1.5',
  ],
  ['overload 11', { kind: 'set', settings: { overload: 11 } }, 'VALUE_OUT_OF_RANGE', '11'],
];

const copies = { ip: '10.1.0.1', port: 6300 };

test('the replication address of another server is refused, and null removes one', () => {
  const set = (id: number, replication: typeof copies | null): Change => {
    return { kind: 'set-device', id, fields: { replication } };
  };
  const state = applyChanges(threeDevices(), [set(0, copies), set(1, copies)]);
  expect(state.devices.map((device) => device?.replication)).toEqual([copies, copies, undefined]);
  const stranger = (fields: object): Change => {
    return add(3, { device: 'far', ip: '10.0.0.9', ...fields });
  };
  for (const change of [stranger({ replication: copies }), stranger(copies)]) {
    const error = refusal(() => applyChanges(state, [change]));
    expect(error).toMatchObject({ code: 'DEVICE_DUPLICATE', details: { twin: 1 } });
    expect(error.message).toContain('10.1.0.1:6300');
  }
  const gone = applyChanges(state, [set(0, null), set(1, null), stranger({ replication: copies })]);
  expect(gone.devices[0]).toEqual(threeDevices().devices[0]);
  expect(gone.devices[3]?.replication).toEqual(copies);
});

test('setting or removing a replication address drops the one kept from Swift', () => {
  const extra = { replication_ip: '10.1.0.1', replication_port: 6300, rack: 7 };
  const state = applyChanges(threeDevices(), [add(3, { device: 'd3', extra })]);
  for (const replication of [null, copies]) {
    const change: Change = { kind: 'set-device', id: 3, fields: { replication } };
    const [, , , device] = applyChanges(state, [change]).devices;
    expect(device?.extra).toEqual({ rack: 7 });
    expect(device?.replication ?? null).toEqual(replication);
  }
});

test.each(refused.map(([what, ...rest]) => ({ what, rest })))(
  'refuses $what and changes nothing',
  ({ rest: [change, code, words] }) => {
    const state = threeDevices();
    const copy = structuredClone(state);
    const error = refusal(() => applyChanges(state, [{ kind: 'remove', id: 0 }, change]));
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
    expect(state).toEqual(copy);
  },
);

test('the error about an unknown device lists the existing ids', () => {
  const error = refusal(() => applyChanges(threeDevices(), [{ kind: 'remove', id: 9 }]));
  expect(error.hint).toContain('d0, d1, d2');
  expect(error.details).toEqual({ id: 9, devices: [0, 1, 2] });
});

test('a removed device keeps its address until it is dropped, and its id is not reused', () => {
  const removed = applyChanges(threeDevices(), [{ kind: 'remove', id: 1 }]);
  expect(refusal(() => applyChanges(removed, [{ kind: 'remove', id: 1 }])).code).toBe(
    'DEVICE_UNKNOWN',
  );
  expect(refusal(() => applyChanges(removed, [add(3, { device: 'd1' })])).code).toBe(
    'DEVICE_DUPLICATE',
  );
  const hole = dropEmptyDevices(removed, null);
  expect(hole.devices[1]).toBeNull();
  expect(applyChanges(hole, [add(3, { device: 'd1' })]).devices).toHaveLength(4);
});

test('changes apply in order, also to a device that the same list adds', () => {
  const state = applyChanges(threeDevices(), [
    add(3),
    { kind: 'set-weight', id: 3, weight: 7 },
    { kind: 'set-device', id: 3, fields: { zone: 4 } },
    { kind: 'set-device', id: 3, fields: { zone: 5 } },
    { kind: 'set', settings: { overload: 0.1, minPartHours: 24 } },
  ]);
  expect(state.devices[3]).toMatchObject({ weight: 7, zone: 5, state: 'active' });
  expect(state).toMatchObject({ overload: 0.1, minPartHours: 24 });
});

test.each<[object, string]>([
  [{ ring: 'Cities' }, 'NAME_INVALID'],
  [{ ring: 'rings' }, 'NAME_INVALID'],
  [{ replicas: 0.5 }, 'VALUE_OUT_OF_RANGE'],
  [{ replicas: 33 }, 'VALUE_OUT_OF_RANGE'],
  [{ replicas: NaN }, 'VALUE_OUT_OF_RANGE'],
  [{ partitioner: { ...settings.partitioner, power: 33 } }, 'VALUE_OUT_OF_RANGE'],
  [{ partitioner: { ...settings.partitioner, power: 0 } }, 'VALUE_OUT_OF_RANGE'],
  [{ partitioner: { ...settings.partitioner, power: 24 }, replicas: 32 }, 'VALUE_OUT_OF_RANGE'],
  [{ partitioner: { kind: 'murmur3-mod', partitions: 0, seed: 0 } }, 'VALUE_OUT_OF_RANGE'],
  [{ minPartHours: 9_000 }, 'VALUE_OUT_OF_RANGE'],
  [{ overload: -0.1 }, 'VALUE_OUT_OF_RANGE'],
])('refuses settings %j', (fields, code) => {
  expect(refusal(() => createState({ ...settings, ...fields })).code).toBe(code);
});

test('a device may not join again under another spelling of its address', () => {
  const named = applyChanges(threeDevices(), [add(3, { ip: 'sd3.example' })]);
  const twin = refusal(() => applyChanges(named, [add(4, { ip: 'SD3.example.', device: 'd3' })]));
  expect(twin).toMatchObject({ code: 'DEVICE_DUPLICATE', details: { twin: 3 } });
  const respelled: Change = { kind: 'set-device', id: 3, fields: { ip: 'SD3.example' } };
  expect(applyChanges(named, [respelled]).devices[3]?.ip).toBe('SD3.example');
});

test('two devices may not have the same key, unless one replaces the other or is removed', () => {
  const spki = (letter: string): string => `MCowBQYDK2VwAyEA${letter.repeat(42)}A=`;
  const setKey = (id: number, key: string): Change => ({ kind: 'set-device', id, fields: { key } });
  const keyed = applyChanges(threeDevices(), [setKey(0, spki('A')), setKey(1, spki('B'))]);
  const twin = refusal(() => applyChanges(keyed, [setKey(0, spki('B'))]));
  expect(twin).toMatchObject({ code: 'DEVICE_DUPLICATE', details: { twin: 1 } });
  expect(twin.message).toMatch(/this is the disk of d1$/);
  // This is what --ask-key finds for two disks that were swapped.
  const swap = [setKey(0, spki('B')), setKey(1, spki('A'))];
  expect(refusal(() => applyChanges(keyed, swap)).code).toBe('DEVICE_DUPLICATE');
  const joined = add(3, { key: spki('B') });
  expect(refusal(() => applyChanges(keyed, [joined])).code).toBe('DEVICE_DUPLICATE');
  expect(applyChanges(keyed, [{ ...joined, replaces: 1 } as Change]).devices[3]?.key).toBe(
    spki('B'),
  );
  const removed: Change = { kind: 'remove', id: 1 };
  expect(applyChanges(keyed, [removed, joined]).devices[3]?.key).toBe(spki('B'));
  expect(applyChanges(keyed, [setKey(1, spki('B'))]).devices[1]?.key).toBe(spki('B'));
});

test('the key of a device can be added, replaced, and removed by an empty one', () => {
  const spki = (letter: string): string => `MCowBQYDK2VwAyEA${letter.repeat(42)}A=`;
  const setKey = (key: string): Change => ({ kind: 'set-device', id: 3, fields: { key } });
  const added = applyChanges(threeDevices(), [add(3, { key: spki('B') })]);
  expect(parseState(serializeState(added)).devices[3]?.key).toBe(spki('B'));
  expect(applyChanges(added, [setKey(spki('C'))]).devices[3]?.key).toBe(spki('C'));
  expect(applyChanges(added, [setKey('')]).devices[3]).toEqual(device(3, { state: 'active' }));
  for (const wrong of ['B', spki('B').slice(1), `${spki('B').slice(0, -2)}B=`]) {
    expect(refusal(() => applyChanges(added, [setKey(wrong)])).code).toBe('DEVICE_INVALID');
  }
});

test('at the limit of pins, present ones can be changed and removed', () => {
  const pin = (partition: number, ...on: number[]): Change => {
    return { kind: 'pin', pin: { partition, on, off: [] } };
  };
  const many = { ...settings, partitioner: { ...settings.partitioner, power: 13 } };
  const pins = Array.from({ length: pinCountMax }, (_, partition) => pin(partition, 0));
  const full = applyChanges(createState(many), [add(0), add(1), ...pins]);
  expect(refusal(() => applyChanges(full, [pin(pinCountMax, 1)]))).toMatchObject({
    code: 'PIN_INVALID',
    hint: 'ring-builder unpin cities 0 removes one of the pins',
  });
  expect(applyChanges(full, [pin(7, 1)]).pins?.[7]).toEqual({ partition: 7, on: [1], off: [] });
  expect(applyChanges(full, [pin(7), pin(pinCountMax, 1)]).pins).toHaveLength(pinCountMax);
});
