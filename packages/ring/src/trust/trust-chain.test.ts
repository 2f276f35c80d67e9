// Tests chains of roots: which root may follow another one, and which roots are valid.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { people, signedRoot, testKey } from '../../../../test/support/signing.ts';
import { signPayload } from './dsse.ts';
import { payloadOf } from './signed-document.ts';
import { newestRoot, parseTrustFile, printTrustFile, rootIdOf, walkRoots } from './trust-chain.ts';

const first = signedRoot();
const newcomers = ['root-d', 'root-e', 'root-f'].map(testKey);
const both = [...people.root.slice(0, 2), ...newcomers.slice(0, 2)];
const rotated = signedRoot({ version: 2, root: newcomers }, both);
const third = signedRoot({ version: 3, root: newcomers, epoch: 2 }, newcomers);

test('a chain of roots leads to the newest root and is read back from its file', () => {
  const chain = [first, rotated, third];
  expect(newestRoot(chain, null).root).toMatchObject({ version: 3, epoch: 2 });
  expect(walkRoots(chain, rootIdOf(rotated)).map(({ root }) => root.version)).toEqual([2, 3]);
  const text = printTrustFile(chain);
  expect(parseTrustFile(Buffer.from(text))).toEqual(chain);
  const converted = Buffer.from(text.replaceAll('\n', '\r\n'));
  expect(() => parseTrustFile(converted)).toThrow('has the line ends of Windows: git config ');
});

const rotations = [
  ['signed only by the old keys', signedRoot({ version: 2, root: newcomers }, people.root)],
  ['signed only by the new keys', signedRoot({ version: 2, root: newcomers }, newcomers)],
  [
    'signed by too few of the old keys',
    signedRoot({ version: 2, root: newcomers }, [...newcomers, ...people.root.slice(0, 1)]),
  ],
  [
    'also signed by an unknown key',
    signedRoot({ version: 2 }, [...people.root, testKey('mallory')]),
  ],
  ['that skips a version', signedRoot({ version: 3 }, people.root)],
  ['of another cluster', signedRoot({ version: 2, cluster: 'other' }, people.root)],
] as const;

test.for(rotations)('a new root %s is refused', ([, next]) => {
  expect(() => newestRoot([first, next], null)).toThrow(
    expect.objectContaining({ code: 'TRUST_INVALID' }),
  );
});

test('a root with a lower epoch is refused', () => {
  const back = signedRoot({ version: 4, root: newcomers, epoch: 1 }, newcomers);
  expect(() => newestRoot([first, rotated, third, back], null)).toThrow('epoch 1 follows epoch 2');
});

test('repeated signatures of one root key count once', () => {
  const [key] = people.root;
  const sketch = signedRoot({ version: 2 }, []);
  if (key === undefined) throw new Error('no key');
  const signature = signPayload(key.privateKey, payloadOf(sketch));
  const twice = { ...sketch, signatures: [signature, signature] };
  expect(() => newestRoot([first, twice], null)).toThrow('1 valid signatures');
});

test('a chain that does not contain the trusted root is a fork', () => {
  const theirs = signedRoot({ epoch: 7 }, people.root);
  expect(() => walkRoots([theirs], rootIdOf(first))).toThrow(
    expect.objectContaining({ code: 'TRUST_FORK' }),
  );
});

const badRoots = [
  ['a threshold that cannot be reached', { rootThreshold: 4 }],
  ['fewer signatures for large changes', { threshold: 2, large: 1 }],
  ['no override and too few keys', { large: 4, override: false }],
  ['a key in two roles', { beacon: people.root.slice(0, 1) }],
  ['an invalid date', { expires: 'never' }],
] as const;

test.for(badRoots)('a root with %s is refused', ([, sketch]) => {
  expect(() => newestRoot([signedRoot(sketch, people.root)], null)).toThrow(
    expect.objectContaining({ code: 'TRUST_INVALID' }),
  );
});

const seed = Number(process.env['SEED'] ?? 20261121);

test(`a trust file with any byte edited is refused (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const whole = Buffer.from(printTrustFile([first, rotated, third]));
  const anchor = rootIdOf(first);
  for (let at = 0; at < whole.length; at += 1) {
    const edited = Buffer.from(whole);
    edited[at] = (whole[at] ?? 0) ^ (1 + random.below(255));
    expect(() => newestRoot(parseTrustFile(edited), anchor), `SEED=${seed} byte ${at}`).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^TRUST_/) }),
    );
  }
});
