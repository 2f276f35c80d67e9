// Tests the limits on connections, and on the bytes that are held for them.
import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';
import { type AdmittedConnection, ConnectionLimiter } from './connection-limiter.ts';

const rules = { max: 6, reserved: 2, perAddressMax: 3 };

function madeConnections() {
  const ended: string[] = [];
  const connection = (
    name: string,
    fields: Partial<AdmittedConnection> = {},
  ): AdmittedConnection => {
    const end = (): void => void ended.push(name);
    return { address: name.slice(0, 1), isKnown: () => false, isBusy: () => false, end, ...fields };
  };
  return { ended, connection };
}
const busy = { isBusy: () => true };
const known = { isKnown: () => true };

test('the connection idle for longest makes room, and busy or known ones stay', () => {
  const { ended, connection } = madeConnections();
  const limiter = new ConnectionLimiter(rules);
  const first = limiter.admit(connection('a1'));
  limiter.admit(connection('b1', busy));
  limiter.admit(connection('c1'));
  limiter.admit(connection('d1'));
  first?.used();
  expect(limiter.admit(connection('e1'))).not.toBeNull();
  expect(ended).toEqual(['c1']);
  for (const name of ['f1', 'g1', 'h1']) limiter.admit(connection(name, busy));
  expect(ended).toEqual(['c1', 'd1', 'a1', 'e1']);
  expect(limiter.admit(connection('i1')), 'all connections are busy').toBeNull();
  expect(
    limiter.admit(connection('m1', known)),
    'a known caller gets a reserved connection',
  ).not.toBeNull();
  expect(limiter.admit(connection('m2', known))).not.toBeNull();
  expect(
    limiter.admit(connection('m3', known)),
    'the reserved connections are in use too',
  ).toBeNull();
  expect(limiter.count).toBe(6);
});

test('the number of connections per address is limited, except for loopback addresses', () => {
  const { ended, connection } = madeConnections();
  const limiter = new ConnectionLimiter({ max: 100, reserved: 0, perAddressMax: 3 });
  const held = ['a1', 'a2', 'a3'].map((name) => limiter.admit(connection(name, busy)));
  expect(limiter.admit(connection('a4'))).toBeNull();
  expect(limiter.admit(connection('b1'))).not.toBeNull();
  held[0]?.leave();
  held[0]?.leave();
  expect(limiter.admit(connection('a5')), 'one connection has left').not.toBeNull();
  expect(limiter.admit(connection('a6')), 'an idle one of the address is closed').not.toBeNull();
  expect(ended).toEqual(['a5']);
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.9']) {
    for (let at = 0; at < 5; at += 1) {
      expect(limiter.admit(connection('x', { address, ...busy }))).not.toBeNull();
    }
  }
});

test('beyond the byte limit the connection that progressed least recently ends', () => {
  const ended: string[] = [];
  const budget = new ByteBudget(100);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => budget.connection(() => void ended.push(name)));
  a?.hold(40);
  b?.hold(40);
  a?.noteProgress();
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
