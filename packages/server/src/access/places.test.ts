import { expect, test } from 'vitest';
import { ByteBudget } from './byte-budget.ts';
import { type Guest, Places } from './places.ts';

const rules = { max: 6, reserved: 2, perAddressMax: 3 };

function guests() {
  const ended: string[] = [];
  const guest = (name: string, fields: Partial<Guest> = {}): Guest => {
    const end = (): void => void ended.push(name);
    return { address: name.slice(0, 1), isKnown: () => false, isBusy: () => false, end, ...fields };
  };
  return { ended, guest };
}
const busy = { isBusy: () => true };
const known = { isKnown: () => true };

test('the oldest idle guest makes room; who is busy or known stays', () => {
  const { ended, guest } = guests();
  const places = new Places(rules);
  const first = places.enter(guest('a1'));
  places.enter(guest('b1', busy));
  places.enter(guest('c1'));
  places.enter(guest('d1'));
  first?.used();
  expect(places.enter(guest('e1'))).not.toBeNull();
  expect(ended).toEqual(['c1']);
  for (const name of ['f1', 'g1', 'h1']) places.enter(guest(name, busy));
  expect(ended).toEqual(['c1', 'd1', 'a1', 'e1']);
  expect(places.enter(guest('i1')), 'all are busy').toBeNull();
  expect(places.enter(guest('m1', known)), 'a member of a ring').not.toBeNull();
  expect(places.enter(guest('m2', known))).not.toBeNull();
  expect(places.enter(guest('m3', known)), 'now all is full').toBeNull();
  expect(places.taken).toBe(6);
});

test('one address does not take all places, and this machine itself is not counted', () => {
  const { ended, guest } = guests();
  const places = new Places({ max: 100, reserved: 0, perAddressMax: 3 });
  const held = ['a1', 'a2', 'a3'].map((name) => places.enter(guest(name, busy)));
  expect(places.enter(guest('a4'))).toBeNull();
  expect(places.enter(guest('b1'))).not.toBeNull();
  held[0]?.leave();
  held[0]?.leave();
  expect(places.enter(guest('a5')), 'one has left').not.toBeNull();
  expect(places.enter(guest('a6')), 'an idle one of its own goes').not.toBeNull();
  expect(ended).toEqual(['a5']);
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.9']) {
    for (let at = 0; at < 5; at += 1) {
      expect(places.enter(guest('x', { address, ...busy }))).not.toBeNull();
    }
  }
});

test('bytes of all connections together are bounded: who came on least lately ends', () => {
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
  expect(ended, 'the one that is too large alone ends too').toEqual(['b', 'a', 'c']);
  a?.leave();
  expect(budget.bytes).toBe(0);
});
