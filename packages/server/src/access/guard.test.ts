import type { GrantedToken } from '@ringwright/access/access-document';
import { role } from '@ringwright/access/need';
import { storedAccess } from '@ringwright/access/open-access';
import { type Caller, type CallHandler } from '@ringwright/wire/call-channel';
import { messageKinds } from '@ringwright/wire/messages';
import { expect, test } from 'vitest';
import { granted, signedAccess, testToken } from '../../../../test/support/access.ts';
import { fillHandlers } from '../handlers.ts';
import { credentialFrom } from './credential.ts';
import { Guard } from './guard.ts';
import type { Refusal } from './refusal.ts';

const caller = (): Caller => ({ call: () => Promise.reject(new Error('not called')) });
const operate = [role('operator')];

function guarded(tokens: readonly GrantedToken[] | null, isStrict = false) {
  const held = {
    access: tokens === null ? null : storedAccess(signedAccess({ tokens: [...tokens] })),
  };
  const clock = { ms: 1_000 };
  const refusals: Refusal[] = [];
  const guard = new Guard({
    access: () => held.access,
    isStrict,
    operatorListen: null,
    certified: () => null,
    nowMs: () => clock.ms,
    onRefusal: (refusal) => refusals.push(refusal),
  });
  const grant = (next: readonly GrantedToken[], version: number): void => {
    held.access = storedAccess(signedAccess({ tokens: [...next], version }));
  };
  const codeOf = (shown: Caller, needs = operate): string => {
    try {
      guard.requireOf(shown, needs, {});
      return 'allowed';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const showing = (id: string | null, isPeer = false): Caller => {
    const one = caller();
    const token = id === null ? null : testToken(id);
    guard.show(one, { ...credentialFrom('10.0.0.9:1', token), isPeer: () => isPeer });
    return one;
  };
  return { guard, clock, refusals, grant, codeOf, showing };
}

test('without an access document all may do all; a strict server lets nobody in', () => {
  expect(guarded(null).codeOf(caller())).toBe('allowed');
  const strict = guarded(null, true);
  expect(strict.codeOf(caller())).toBe('TOKEN_MISSING');
  expect(strict.codeOf(strict.showing('ada'))).toBe('ACCESS_PENDING');
});

test('an open connection loses what is revoked or expires, and gets what is granted', () => {
  const ada = granted('ada', [{ role: 'operator' }], 2_000);
  const bob = granted('bob', [{ role: 'metrics' }]);
  const { grant, clock, codeOf, showing, guard } = guarded([ada]);
  const [asAda, asBob] = [showing('ada'), showing('bob')];
  expect([codeOf(asAda), codeOf(asBob)]).toEqual(['allowed', 'TOKEN_REFUSED']);
  grant([ada, bob], 2);
  expect([codeOf(asAda), codeOf(asBob)]).toEqual(['allowed', 'PERMISSION_MISSING']);
  clock.ms = 2_000;
  expect(codeOf(asAda)).toBe('TOKEN_REFUSED');
  grant([granted('ada', [{ role: 'operator' }])], 3);
  expect([codeOf(asAda), codeOf(asBob)]).toEqual(['allowed', 'TOKEN_REFUSED']);
  expect([...guard.lastUse]).toEqual([
    ['ada', 2_000],
    ['bob', 1_000],
  ]);
});

test('a refusal says what lacks, and the log learns who it was', () => {
  const { guard, refusals, showing, codeOf } = guarded([granted('bob', [{ role: 'metrics' }])]);
  expect(codeOf(showing('bob'))).toBe('PERMISSION_MISSING');
  expect(codeOf(showing('eve'))).toBe('TOKEN_REFUSED');
  expect(refusals).toEqual([
    { from: '10.0.0.9:1', token: 'bob', code: 'PERMISSION_MISSING', needs: 'operator' },
    { from: '10.0.0.9:1', token: 'eve', code: 'TOKEN_REFUSED', needs: 'operator' },
  ]);
  const unreadable = credentialFrom('x', 'unreadable');
  expect(() => guard.require(unreadable, operate)).toThrow(/not granted here/);
});

test('who proved to be a peer is one, and nothing else', () => {
  const { codeOf, showing } = guarded([]);
  expect(codeOf(showing(null, true), [role('peer')])).toBe('allowed');
  expect(codeOf(showing(null, true))).toBe('PERMISSION_MISSING');
});

/** None of them is reached: whoever shows nothing is refused before. */
const nothingBehind = new Proxy(() => undefined, {
  get: (_, name) => (name === 'then' ? undefined : nothingBehind),
  apply: () => nothingBehind,
}) as never;

test('every message but the first and the signed ones is refused without a token', async () => {
  const { guard, grant } = guarded([]);
  const handlers = new Map<string, CallHandler>();
  const parts = { introduce: nothingBehind, copies: nothingBehind, throttle: nothingBehind };
  const more = {
    audit: nothingBehind,
    trash: nothingBehind,
    trust: nothingBehind,
    moves: nothingBehind,
  };
  const rest = {
    proven: nothingBehind,
    replica: nothingBehind,
    clients: nothingBehind,
    scrubber: nothingBehind,
  };
  fillHandlers(handlers, { guard, ...parts, ...more, ...rest });
  const key = Buffer.from('a');
  const request = { keyspace: 'notes', key, condition: null, prefix: key };
  const open: string[] = [];
  for (const { method } of Object.values(messageKinds)) {
    const answer = async (shown: Caller) => handlers.get(method)?.answer(request, shown);
    const code = await answer(caller()).then(
      () => 'answered',
      (error: { code?: string }) => error.code ?? 'passed',
    );
    if (code !== 'TOKEN_MISSING') open.push(method);
    // The same with a token for something else.
    grant([granted('app', [{ role: 'read', keyspace: 'other', prefix: '' }])], 2);
    const app = caller();
    guard.show(app, credentialFrom('x', testToken('app')));
    const other = await answer(app).then(
      () => 'answered',
      (error: { code?: string }) => error.code ?? 'passed',
    );
    const anyTokenIsGood = ['hello', 'trust-offer', 'trust-fetch'].includes(method);
    if (!anyTokenIsGood) expect([method, other]).toEqual([method, 'PERMISSION_MISSING']);
    grant([], 3);
  }
  expect(open).toEqual(['hello', 'trust-offer']);
});
