// Tests the limits on connections, and on the bytes that are held for them.
import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';
import { type AdmittedConnection, ConnectionLimiter } from './connection-limiter.ts';

const rules = { max: 6, reserved: 2, perAddressMax: 3 };

function guests() {
  const ended: string[] = [];
  const guest = (name: string, fields: Partial<AdmittedConnection> = {}): AdmittedConnection => {
    const end = (): void => void ended.push(name);
    return { address: name.slice(0, 1), isKnown: () => false, isBusy: () => false, end, ...fields };
  };
  return { ended, guest };
}
const busy = { isBusy: () => true };
const known = { isKnown: () => true };

test('the connection idle for longest makes room, and busy or known ones stay', () => {
  const { ended, guest } = guests();
  const places = new ConnectionLimiter(rules);
  const first = places.enter(guest('a1'));
  places.enter(guest('b1', busy));
  places.enter(guest('c1'));
  places.enter(guest('d1'));
  first?.used();
  expect(places.enter(guest('e1'))).not.toBeNull();
  expect(ended).toEqual(['c1']);
  for (const name of ['f1', 'g1', 'h1']) places.enter(guest(name, busy));
  expect(ended).toEqual(['c1', 'd1', 'a1', 'e1']);
  expect(places.enter(guest('i1')), 'all connections are busy').toBeNull();
  expect(places.enter(guest('m1', known)), 'a known guest gets a reserved place').not.toBeNull();
  expect(places.enter(guest('m2', known))).not.toBeNull();
  expect(places.enter(guest('m3', known)), 'the reserved places are taken too').toBeNull();
  expect(places.taken).toBe(6);
});

test('the number of connections per address is limited, except for loopback addresses', () => {
  const { ended, guest } = guests();
  const places = new ConnectionLimiter({ max: 100, reserved: 0, perAddressMax: 3 });
  const held = ['a1', 'a2', 'a3'].map((name) => places.enter(guest(name, busy)));
  expect(places.enter(guest('a4'))).toBeNull();
  expect(places.enter(guest('b1'))).not.toBeNull();
  held[0]?.leave();
  held[0]?.leave();
  expect(places.enter(guest('a5')), 'one connection has left').not.toBeNull();
  expect(places.enter(guest('a6')), 'an idle one of the address is closed').not.toBeNull();
  expect(ended).toEqual(['a5']);
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.9']) {
    for (let at = 0; at < 5; at += 1) {
      expect(places.enter(guest('x', { address, ...busy }))).not.toBeNull();
    }
  }
});

test('beyond the byte limit the connection that progressed least recently ends', () => {
  const ended: string[] = [];
  const budget = new ByteBudget(100);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => budget.connection(() => void ended.push(name)));
  a?.hold(40);
  b?.hold(40);
  a?.cameOn();
  c?.hold(40);
  expect([ended, budget.bytes]).toEqual([['b'], 80]);
  c?.hold(0);
  a?.hold(100);
  expect([ended, budget.bytes]).toEqual([['b'], 100]);
  c?.hold(500);
  expect(ended, 'a connection above the limit by itself ends too').toEqual(['b', 'a', 'c']);
  a?.leave();
  expect(budget.bytes).toBe(0);
});
