import { newestRoot } from '@ringwright/ring/trust/trust-chain';
import { expect, test } from 'vitest';
import { granted, signedAccess, testAccess } from '../../../test/support/access.ts';
import { people, signedRoot, testKey } from '../../../test/support/signing.ts';
import { accessPayload } from './access-document.ts';
import { judgeAccess, openAccess, storedAccess } from './open-access.ts';

const nowMs = Date.parse('2026-11-01T00:00:00Z');
const trust = newestRoot([signedRoot()], null);
const open = (bytes: Uint8Array, trusts = [trust]) => openAccess(bytes, trusts, nowMs);
const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
};

test('a document that a ring key signed is opened, and can be read again from disk', () => {
  const bytes = signedAccess({ tokens: [granted('ada', [{ role: 'operator' }])] });
  const access = open(bytes);
  expect(access.tokens.get('ada')?.grants).toEqual([{ role: 'operator' }]);
  expect(storedAccess(bytes).id).toBe(access.id);
});

test('a document that is forged, foreign, of another epoch or by too few is refused', () => {
  const two = newestRoot([signedRoot({ threshold: 2 })], null);
  const refused: readonly [Uint8Array, typeof trust][] = [
    [signedAccess({}, [testKey('mallory')]), trust],
    // Each key has one role: keys of roots and beacons grant nothing.
    [signedAccess({}, people.root), trust],
    [signedAccess({}, people.beacon), trust],
    [signedAccess({}, []), trust],
    [signedAccess({ cluster: 'other' }), trust],
    [signedAccess({ epoch: 2 }), trust],
    [signedAccess(), two],
    [Buffer.alloc(300 * 1024, '['), trust],
    [Buffer.from('{}'), trust],
  ];
  for (const [bytes, by] of refused) {
    expect(codeOf(() => open(bytes, [by]))).toBe('ACCESS_INVALID');
  }
  expect(open(signedAccess({}, people.ring.slice(0, 2)), [two]).document.version).toBe(1);
});

test('no signed byte can be changed', () => {
  const bytes = signedAccess({ tokens: [granted('ada', [{ role: 'metrics' }])] });
  const text = bytes.toString();
  for (const forged of [
    text.replace('metrics', 'operator'),
    text.replace('\\"expiresMs\\":null', '\\"expiresMs\\":9999999999999'),
    text.replace('\\"version\\":1', '\\"version\\":9'),
  ]) {
    expect(forged).not.toBe(text);
    expect(codeOf(() => open(Buffer.from(forged)))).toBe('ACCESS_INVALID');
  }
});

test('a signature of another kind of document does not count', () => {
  const payload = accessPayload(testAccess());
  const other = { ...payload, type: 'application/vnd.ringwright.beacon+json' };
  expect(other.bytes).toEqual(payload.bytes);
  const text = signedAccess().toString().replace('ringwright.access', 'ringwright.beacon');
  expect(codeOf(() => open(Buffer.from(text)))).toBe('ACCESS_INVALID');
});

test('the refusal of an old or different document does not contain the one in force', () => {
  const held = { document: testAccess({ version: 7 }), id: 'held' };
  for (const version of [6, 7]) {
    const offered = { document: testAccess({ version, change: 'another' }), id: 'offered' };
    expect(() => judgeAccess(held, offered)).toThrow(
      expect.objectContaining({
        details: { held: { epoch: 1, version: 7 }, given: { epoch: 1, version } },
      }),
    );
  }
});

test('documents only go forward, and a higher epoch starts anew', () => {
  const at = (version: number, epoch = 1, change = '') => {
    const document = testAccess({ version, epoch, change });
    return { document, id: `${version}.${epoch}.${change}` };
  };
  expect(judgeAccess(null, at(7))).toBe('newer');
  expect(judgeAccess(at(7), at(7))).toBe('same');
  expect(judgeAccess(at(7), at(8))).toBe('newer');
  expect(judgeAccess(at(7), at(1, 2))).toBe('newer');
  expect(codeOf(() => judgeAccess(at(7), at(6)))).toBe('ACCESS_OLDER');
  expect(codeOf(() => judgeAccess(at(1, 2), at(9, 1)))).toBe('ACCESS_OLDER');
  expect(codeOf(() => judgeAccess(at(7), at(7, 1, 'other')))).toBe('ACCESS_FORK');
});
