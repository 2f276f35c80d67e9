// Which device of a ring the server is, and the tie of its stamps.
import type { Device } from '@ringwright/ring/device';
import { describe, expect, test } from 'vitest';
import { activeOn, idOf, servedRing } from '../../../../test/support/served-ring.ts';
import { activeRing, ownAddress, ringHead } from './active-ring.ts';

const base = servedRing({ devices: 5 });
/** Devices 1 and 2 share an address; 3 is a hole; 4 has an IPv6 address. */
const ring = {
  ...base,
  devices: base.devices.map((device): Device | null => {
    if (device === null || device.id === 3) return null;
    if (device.id === 2) return { ...device, port: 6201 };
    return device.id === 4 ? { ...device, ip: '::1' } : device;
  }),
};

function selfOf(ip: string, port: number, name: string | null): number | null {
  const identity = { name, address: { ip, port }, born: 'b' };
  return activeRing({ ring, id: idOf(base), bytes: Buffer.alloc(0) }, identity, 5).self;
}

describe('the device of a server', () => {
  test.each([
    ['is found by an address that only one device has', '127.0.0.1', 6200, null, 0],
    ['is found by address and name', '127.0.0.1', 6201, 'sd2', 2],
    ['is the first one of the address if no name is given', '127.0.0.1', 6201, null, 1],
    ['is not found by a name at another address', '127.0.0.1', 6200, 'sd2', null],
    ['is not found at the address of a hole', '127.0.0.1', 6203, null, null],
    ['is found by an IPv6 address without brackets', '::1', 6204, 'sd4', 4],
    ['is found by another spelling of its address', '0:0:0:0:0:0:0:1', 6204, 'sd4', 4],
    ['is not found by a port that no device has', '127.0.0.1', 1, null, null],
    ['is not found by every interface, since a ring names one', '0.0.0.0', 6200, 'sd0', null],
    ['is not found by every interface in IPv6', '::', 6200, null, null],
  ])('%s', (...[, ip, port, name, self]) => {
    expect(selfOf(ip, port, name)).toBe(self);
  });
});

test('the exact spelling goes first, and others get the spelling of the ring', () => {
  const spelled = (ip: string) => ({ ip, port: 6201, device: 'sd1' });
  const [one, two] = base.devices;
  const devices = [
    { ...one!, ...spelled('sd1.example.') },
    { ...two!, ...spelled('SD1.example') },
  ];
  const selfAs = (ip: string) => {
    const identity = { name: 'sd1', address: { ip, port: 6201 }, born: 'b' };
    const given = { ring: { ...base, devices }, id: idOf(base), bytes: Buffer.alloc(0) };
    const active = activeRing(given, identity, 5);
    return [active.self, ownAddress([active], identity)];
  };
  expect(selfAs('sd1.example.')).toEqual([0, 'sd1.example.:6201']);
  expect(selfAs('SD1.example')).toEqual([1, 'SD1.example:6201']);
  expect(selfAs('sd1.EXAMPLE')).toEqual([0, 'sd1.example.:6201']);
  expect(selfAs('sd2.example')).toEqual([null, 'sd2.example:6201']);
});

test('stamps made outside the ring never tie with those of its devices', () => {
  const identity = (born: string) => ({ name: null, address: { ip: 'x', port: 1 }, born });
  const given = { ring: base, id: idOf(base), bytes: Buffer.alloc(0) };
  const ties = ['a', 'b', 'c'].map((born) => activeRing(given, identity(born), 0).tieDevice);
  expect(new Set(ties).size).toBe(3);
  for (const tie of ties) {
    expect(tie).toBeGreaterThanOrEqual(2 ** 23);
    expect(tie).toBeLessThan(2 ** 24);
  }
});

test('stamps of two devices never tie, and those of a wiped device rarely do', () => {
  const given = { ring: base, id: idOf(base), bytes: Buffer.alloc(0) };
  const tieOf = (id: number, born: string): number => {
    const { ip, port, device } = base.devices[id]!;
    return activeRing(given, { name: device, address: { ip, port }, born }, 0).tieDevice;
  };
  const disks = Array.from({ length: 400 }, (_, index) => `disk ${index}`);
  const [ofOne, ofTwo] = [1, 2].map((id) => new Set(disks.map((born) => tieOf(id, born))));
  expect(ofOne!.intersection(ofTwo!).size).toBe(0);
  expect(ofTwo!.size).toBe(64);
  expect(Math.max(...ofTwo!)).toBeLessThan(2 ** 23);
});

test('the head names the active ring', () => {
  expect(ringHead(activeOn(base, 0))).toEqual({ keyspace: 'cities', version: 1, id: idOf(base) });
});
