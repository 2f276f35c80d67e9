// The permissions that servers outside a ring need at its devices, and the error without them.
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import {
  isGatewayAccepted,
  type NonMemberPorts,
  needsOfNonMember,
  requireHandoverAccepted,
} from './non-members.ts';

const inside = activeOn(servedRing(), 0);
const outside = { ...inside, self: null };

const ports = (isMembersOnly: boolean, granted: readonly string[]): NonMemberPorts => ({
  proven: { isMembersOnly: () => isMembersOnly },
  guard: {
    isGranted: (_caller, needs) =>
      needs.every((need) =>
        granted.includes(need.kind === 'data' ? need.role : need.kind === 'role' ? 'peer' : ''),
      ),
  },
});

test('an outsider needs peer and write to give records, and read to coordinate', () => {
  const roles = (name: Parameters<typeof needsOfNonMember>[0]): unknown =>
    needsOfNonMember(name, 'notes')?.map((need) => ('role' in need ? need.role : need.kind));
  for (const name of ['digests', 'tail', 'offer', 'push'] as const) {
    expect(roles(name)).toEqual(['role', 'write']);
  }
  for (const name of ['recordRead', 'recordWrite', 'recordPrepare', 'pageRead'] as const) {
    expect(roles(name)).toEqual(['role', 'write', 'read']);
  }
  for (const name of ['copyOpen', 'copyStart', 'rowsSince', 'floorRaise', 'promises'] as const) {
    expect(needsOfNonMember(name, 'notes')).toBeNull();
  }
});

test('a server outside the ring knows whether its requests would be accepted', () => {
  expect(isGatewayAccepted(ports(true, []), inside)).toBe(true);
  expect(isGatewayAccepted(ports(false, []), outside)).toBe(true);
  expect(isGatewayAccepted(ports(true, ['peer', 'write']), outside)).toBe(false);
  expect(isGatewayAccepted(ports(true, ['peer', 'write', 'read']), outside)).toBe(true);
  expect(() => requireHandoverAccepted(ports(true, ['peer', 'write']), outside)).not.toThrow();
  const ways = /--token-file.* or ring-builder add cities .* 0 --ask-key/;
  expect(() => requireHandoverAccepted(ports(true, ['peer']), outside)).toThrow(ways);
});
