// Tests the threats to ring files: what an attacker without a key, or with one key, can try.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import {
  people,
  signAgain,
  signedRing,
  signedRoot,
  testKey,
  testSigning,
} from '../../../../test/support/signing.ts';
import { mutantOf } from '../../test/support/mutate.ts';
import { sampleRing } from '../../test/support/sample-ring.ts';
import { splitRingFile, withSignatures } from '../file/ring-container.ts';
import { decodeRing, encodeRing } from '../file/ring-file.ts';
import { authenticateRing } from './authenticate-ring.ts';
import { preAuthenticationEncoding } from './dsse.ts';
import { newestRoot } from './trust-chain.ts';

const document = signedRoot();
const trust = newestRoot([document], null);
const nowMs = Date.parse('2026-11-21T00:00:00Z');
const ring = sampleRing({ power: 3, replicas: 3, devices: 5 });
const signing = testSigning(document);
const [ada, bob] = people.ring as [(typeof people.ring)[0], (typeof people.ring)[0]];
const good = signedRing(ring, signing, [ada]);

const codeOf = (bytes: Uint8Array, trusts = [trust], now = nowMs): string => {
  try {
    authenticateRing(bytes, trusts, now);
    return 'accepted';
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  }
};

test('a signed ring is authentic and is read back with its id and its signing', () => {
  expect(authenticateRing(good.bytes, [trust], nowMs)).toMatchObject({
    signing,
    signers: [ada.id],
  });
  const { ring: read, id, signing: found } = decodeRing(good.bytes);
  expect([read, id, found]).toEqual([ring, good.id, signing]);
  expect(codeOf(signAgain(good.bytes, [ada, bob]))).toBe('accepted');
});

test('the pre-authentication encoding is that of DSSE', () => {
  const encoded = preAuthenticationEncoding({
    type: 'http://example.com/HelloWorld',
    bytes: Buffer.from('hello world'),
  });
  expect(encoded.toString()).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world');
});

test('arbitrary ring: one without a signature of a ring key is refused', () => {
  expect(codeOf(encodeRing(ring).bytes)).toBe('SIGNATURES_MISSING');
  expect(codeOf(signAgain(good.bytes, [testKey('mallory')]))).toBe('SIGNATURES_MISSING');
  expect(codeOf(signAgain(good.bytes, people.root))).toBe('SIGNATURES_MISSING');
  expect(codeOf(signAgain(good.bytes, people.beacon))).toBe('SIGNATURES_MISSING');
});

test('replay: the signatures of one ring are refused on another', () => {
  const other = encodeRing({ ...ring, version: 2, parent: good.id }, { signing });
  const { signatures } = splitRingFile(good.bytes);
  expect(codeOf(withSignatures(other.bytes, signatures))).toBe('SIGNATURES_MISSING');
});

test('repeated signatures of one key count once', () => {
  const two = newestRoot([signedRoot({ threshold: 2 })], null);
  const { signatures } = splitRingFile(good.bytes);
  const twice = withSignatures(good.bytes, [...signatures, ...signatures]);
  expect(codeOf(twice, [two])).toBe('SIGNATURES_MISSING');
  expect(codeOf(signAgain(good.bytes, [ada, bob]), [two])).toBe('accepted');
});

test('wrong cluster: a ring is refused where only another cluster is trusted', () => {
  const other = newestRoot([signedRoot({ cluster: 'other' })], null);
  expect(codeOf(good.bytes, [other])).toBe('RING_FOREIGN');
  expect(codeOf(good.bytes, [other, trust])).toBe('accepted');
});

test('key compromise: a root without the key, or of a later epoch, refuses the ring', () => {
  const without = signedRoot({ version: 2, ring: people.ring.slice(1) });
  expect(codeOf(good.bytes, [newestRoot([document, without], null)])).toBe('SIGNATURES_MISSING');
  const later = signedRoot({ version: 2, epoch: 2 });
  const trusted = newestRoot([document, later], null);
  expect(codeOf(good.bytes, [trusted])).toBe('RING_EPOCH_WRONG');
});

test('an expired root accepts no ring', () => {
  expect(codeOf(good.bytes, [trust], Date.parse('2031-01-01T00:00:00Z'))).toBe('TRUST_EXPIRED');
});

test('change guard: a large change needs two keys, or an override where the root allows it', () => {
  const large = signedRing(ring, { ...signing, large: true }, [ada]);
  expect(codeOf(large.bytes)).toBe('BRAKE');
  expect(codeOf(signAgain(large.bytes, [ada, bob]))).toBe('accepted');
  const reason = { ...signing, large: true, override: 'fire in zone 2' };
  const overridden = signedRing(ring, reason, [ada]);
  expect(codeOf(overridden.bytes)).toBe('accepted');
  const strict = newestRoot([signedRoot({ override: false })], null);
  expect(codeOf(overridden.bytes, [strict])).toBe('BRAKE');
});

test('mix-and-match: sections of another signed ring are refused', () => {
  const other = signedRing(sampleRing({ power: 3, replicas: 3, devices: 6 }), signing, [ada]);
  const cut = splitRingFile(good.bytes).sectionsAt;
  const from = splitRingFile(other.bytes).sectionsAt;
  const mixed = Buffer.concat([other.bytes.subarray(0, from), good.bytes.subarray(cut)]);
  expect(() => decodeRing(mixed)).toThrow(expect.objectContaining({ code: 'RING_FILE_INVALID' }));
});

test('endless data: a file that is longer than its lengths, or claims too much, is refused', () => {
  const endless = Buffer.concat([good.bytes, Buffer.alloc(1_000_000)]);
  expect(() => decodeRing(endless)).toThrow('file length');
  const claim = Buffer.from(good.bytes);
  claim.writeUInt32BE(0xffff_ffff, 16);
  expect(codeOf(claim)).toBe('RING_TOO_LARGE');
});

const seed = Number(process.env['SEED'] ?? 20261121);
const rounds = Number(process.env['MUTANTS'] ?? 3_000);

test(`no mutated ring is accepted, MUTANTS=${rounds} (SEED=${seed})`, { timeout: 600_000 }, () => {
  const random = seededRandom(seed);
  const second = signAgain(good.bytes, [ada, bob]);
  for (let round = 0; round < rounds; round += 1) {
    const mutant = mutantOf(round % 2 === 0 ? good.bytes : second, random);
    const accepted = ((): boolean => {
      try {
        authenticateRing(mutant, [trust], nowMs);
        const { ring: read, id } = decodeRing(mutant);
        // If the second signature is broken, the first one is still valid for the same ring.
        expect([read, id]).toEqual([ring, good.id]);
        return round % 2 === 0;
      } catch (error) {
        expect(error, `SEED=${seed} round ${round}`).toMatchObject({
          code: expect.stringMatching(/^(RING_|SIGNATURES_|BRAKE)/),
        });
        return false;
      }
    })();
    expect(accepted, `SEED=${seed} round ${round}`).toBe(false);
  }
});
