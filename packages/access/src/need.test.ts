import { messageKinds } from '@ringwright/wire/messages';
import { expect, test } from 'vitest';
import { granted, testToken } from '../../../test/support/access.ts';
import { withoutTokens, withToken } from './change-access.ts';
import { dataGrantOf, type Grant, grantText } from './grant.ts';
import { messageNeeds } from './message-needs.ts';
import { anyToken, type Need, nothing, permits, role } from './need.ts';
import { authenticate } from './open-access.ts';
import { newToken, parseToken, tokenHash, tokenText } from './token.ts';

const data = (word: 'read' | 'write', keyspace: string, key: string | null): Need => {
  return { kind: 'data', role: word, keyspace, key: key === null ? null : Buffer.from(key) };
};
const grant = (word: 'read' | 'write', place: string): Grant => {
  const made = dataGrantOf(word, place);
  if (made === null) throw new Error(place);
  return made;
};

test('a grant holds for its role, its keyspace and exactly its prefix', () => {
  const held = [grant('read', 'notes/user:7')];
  const allowed: readonly Need[] = [
    nothing,
    anyToken,
    data('read', 'notes', 'user:7'),
    data('read', 'notes', 'user:77'),
    { kind: 'ring', keyspace: 'notes' },
  ];
  const refused: readonly Need[] = [
    data('read', 'notes', 'user:6'),
    data('read', 'notes', 'user:'),
    data('read', 'notes', 'User:7'),
    data('read', 'notes', ''),
    data('read', 'notes', null),
    data('write', 'notes', 'user:7'),
    data('read', 'note', 'user:7'),
    { kind: 'ring', keyspace: 'notes2' },
    role('operator'),
    role('metrics', 'peer'),
  ];
  for (const need of allowed) expect(permits(held, need), JSON.stringify(need)).toBe(true);
  for (const need of refused) expect(permits(held, need), JSON.stringify(need)).toBe(false);
  for (const need of [...allowed, ...refused].slice(1)) expect(permits(null, need)).toBe(false);
});

test('a cluster role reads no record, and a star stands for every keyspace', () => {
  expect(permits([{ role: 'operator' }], data('read', 'notes', 'a'))).toBe(false);
  expect(permits([{ role: 'operator' }], { kind: 'ring', keyspace: 'notes' })).toBe(true);
  expect(permits([{ role: 'metrics' }], role('operator', 'metrics'))).toBe(true);
  expect(permits([grant('write', '*')], data('write', 'anything', 'a'))).toBe(true);
  expect(permits([grant('write', '*')], data('write', 'anything', null))).toBe(true);
  expect(permits([grant('write', '*/a')], data('write', 'anything', 'b'))).toBe(false);
});

test('every message has its needs, and all except hello and trust-offer require a token', () => {
  expect(Object.keys(messageNeeds).sort()).toEqual(Object.keys(messageKinds).sort());
  const key = Buffer.from('a');
  const request = { keyspace: 'notes', key, prefix: key, condition: null };
  const open = Object.entries(messageNeeds).filter(([, needs]) => {
    const found = typeof needs === 'function' ? needs(request as never) : needs;
    return found.length === 0 || found.every((need) => permits(null, need));
  });
  expect(open.map(([name]) => name)).toEqual(['hello', 'trustOffer']);
});

test('a scan of a prefix needs that prefix, and a scan of everything needs everything', () => {
  const needs = messageNeeds.coordinateScan as (request: never) => readonly Need[];
  const allowed = [grant('read', 'notes/shop:')];
  const mayScan = (prefix: string): boolean[] =>
    needs({ keyspace: 'notes', prefix: Buffer.from(prefix) } as never).map((need) =>
      permits(allowed, need),
    );
  expect(['shop:', 'shop:a', 'shop', ''].map(mayScan)).toEqual([[true], [true], [false], [false]]);
});

test('a conditional put reveals the record, so it also needs to read', () => {
  const put = { keyspace: 'notes', key: Buffer.from('a'), condition: 'absent' } as never;
  const needs = messageNeeds.coordinatePut as (request: never) => readonly Need[];
  expect(needs(put).map((need) => permits([grant('write', 'notes')], need))).toEqual([true, false]);
});

test('a token is recognized by its secret until it expires or is revoked', () => {
  const about = { cluster: 'test', epoch: 1, by: 'ada', ms: 5, change: 'x' };
  const first = withToken(null, granted('shop', [grant('read', 'notes')], 1_000), about);
  const second = withToken(first, granted('ada', [{ role: 'operator' }]), about);
  expect(second).toMatchObject({ version: 2, tokens: [{ id: 'ada' }, { id: 'shop' }] });
  const tokens = new Map(second.tokens.map((token) => [token.id, token]));
  const shop = testToken('shop');
  expect(authenticate({ tokens }, shop, 999)?.id).toBe('shop');
  expect(authenticate({ tokens }, shop, 1_000)).toBeNull();
  expect(authenticate({ tokens }, { ...shop, id: 'ada' }, 0), 'another secret').toBeNull();
  expect(authenticate({ tokens }, { ...shop, id: 'nobody' }, 0)).toBeNull();
  const third = withoutTokens(second, ['shop'], about);
  expect(third).toMatchObject({ version: 3, tokens: [{ id: 'ada' }] });
  expect(() => withToken(third, granted('ada', []), about)).toThrow(/granted already/);
  expect(() => withoutTokens(third, ['shop'], about)).toThrow(/no token shop/);
});

test('a token is one word with a single form', () => {
  const token = newToken('shop-2', Buffer.alloc(32, 0xfb));
  expect(parseToken(tokenText(token))).toEqual(token);
  expect(tokenHash(token)).not.toBe(tokenHash({ ...token, id: 'shop-3' }));
  const [id, secret] = [token.id, token.secret];
  for (const word of ['', '.', id, `${id}.`, `.${secret}`, `${id}.${secret}=`, `Shop.${secret}`]) {
    expect(parseToken(word), word).toBeNull();
  }
});

test('places of grants are read as they are shown', () => {
  for (const place of ['notes', 'notes/user:', 'notes/a/b', '*', '*/x']) {
    expect(grantText(grant('read', place))).toBe(`read ${place}`);
  }
  for (const place of ['', 'Notes', '-x', `notes/${'x'.repeat(513)}`, 'notes/\ud800']) {
    expect(dataGrantOf('read', place), place).toBeNull();
  }
});
