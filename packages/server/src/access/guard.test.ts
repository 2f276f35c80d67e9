// Tests which calls the guard allows, by access document, token and proof of being a peer.

import { Socket } from 'node:net';
import type { GrantedToken } from '@ringwright/access/access-document';
import { role } from '@ringwright/access/need';
import { storedAccess } from '@ringwright/access/open-access';
import { type Caller, type CallHandler } from '@ringwright/wire/call-channel';
import { messageKinds } from '@ringwright/wire/messages';
import { expect, test } from 'vitest';
import { granted, signedAccess, testToken } from '../../../../test/support/access.ts';
import { fillHandlers } from '../handlers.ts';
import { type Certified, credentialFrom } from './credential.ts';
import { Guard } from './guard.ts';
import type { Refusal } from './refusal.ts';

const caller = (): Caller => ({ call: () => Promise.reject(new Error('not called')) });
const operate = [role('operator')];

function guarded(tokens: readonly GrantedToken[] | null, isStrict = false) {
  const held = {
    access: tokens === null ? null : storedAccess(signedAccess({ tokens: [...tokens] })),
  };
  const clock = { ms: 1_000 };
  const certificates = new Map<unknown, Certified>();
  const refusals: Refusal[] = [];
  const guard = new Guard({
    access: () => held.access,
    isStrict,
    operatorListen: null,
    certified: (socket) => certificates.get(socket) ?? null,
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
  const certify = (certified: Certified): Caller => {
    const one = caller();
    const socket = new Socket();
    certificates.set(socket, certified);
    guard.show(one, { ...credentialFrom('10.0.0.9:1', null), socket });
    return one;
  };
  return { guard, clock, refusals, grant, codeOf, showing, certify };
}

test('a certificate grants its roles from its first moment to its last', () => {
  const { codeOf, clock, certify, guard } = guarded([]);
  const grants = [{ role: 'operator' }] as const;
  const ada = certify({ name: 'ada', grants, startsMs: 2_000, endsMs: 3_000 });
  const codes = [1_999, 2_000, 2_999, 3_000].map((ms) => {
    clock.ms = ms;
    return codeOf(ada);
  });
  expect(codes).toEqual(['TOKEN_REFUSED', 'allowed', 'allowed', 'TOKEN_REFUSED']);
  expect(() => guard.requireOf(ada, operate, {})).toThrow('the certificate ada expired at');
  clock.ms = 1_999;
  expect(() => guard.requireOf(ada, operate, {})).toThrow('ada is not valid before');
});

test('without an access document everybody is allowed, or nobody on a strict server', () => {
  expect(guarded(null).codeOf(caller())).toBe('allowed');
  const strict = guarded(null, true);
  expect(strict.codeOf(caller())).toBe('TOKEN_MISSING');
  expect(strict.codeOf(strict.showing('ada'))).toBe('ACCESS_PENDING');
});

test('grants, revocations and expiries take effect on open connections', () => {
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

test('a refusal is reported with the caller, its token and the missing permission', () => {
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

test('a proven peer has the role peer and no other', () => {
  const { codeOf, showing } = guarded([]);
  expect(codeOf(showing(null, true), [role('peer')])).toBe('allowed');
  expect(codeOf(showing(null, true))).toBe('PERMISSION_MISSING');
});

/** Stands for the parts behind the guard: each property and each call returns it again. */
const nothingBehind = new Proxy(() => undefined, {
  get: (_, name) => (name === 'then' ? undefined : nothingBehind),
  apply: () => nothingBehind,
}) as never;

/** Fills in the handler of each message; `trust` is the only part that answers. */
function handlersBehind(guard: Guard, trust = nothingBehind): Map<string, CallHandler> {
  const handlers = new Map<string, CallHandler>();
  const names = ['introduce', 'copies', 'throttle', 'audit', 'trash', 'moves', 'proven'] as const;
  const more = ['replica', 'clients', 'scrubber'] as const;
  const parts = Object.fromEntries([...names, ...more].map((name) => [name, nothingBehind]));
  const behind = parts as Record<(typeof names | typeof more)[number], never>;
  fillHandlers(handlers, { guard, ...behind, trust, onBug: () => expect.fail() });
  return handlers;
}

test('without a token every message except hello and trust-offer is refused', async () => {
  const { guard, grant } = guarded([]);
  const handlers = handlersBehind(guard);
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
    // The same request with a token that grants something else.
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

test('grants and beacons are sent to peers and to callers that may view the status', async () => {
  const { guard, showing } = guarded([
    granted('app', [{ role: 'read', keyspace: '*', prefix: '' }]),
    ...(['peer', 'operator', 'metrics'] as const).map((role) => granted(role, [{ role }])),
  ]);
  const documents = { roots: ['root'], beacons: ['beacon'], access: 'grants' };
  const handlers = handlersBehind(guard, { fetch: () => documents } as never);
  const fetched = (shown: Caller): unknown => handlers.get('trust-fetch')?.answer({}, shown);
  expect(fetched(showing('app'))).toEqual({ roots: ['root'], beacons: [], access: null });
  for (const id of ['peer', 'operator', 'metrics']) expect(fetched(showing(id))).toBe(documents);
  expect(fetched(showing(null, true)), 'a device of a ring').toBe(documents);
});
