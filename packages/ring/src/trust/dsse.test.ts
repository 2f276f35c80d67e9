// Tests an attack: a document with as many wrong signatures as it may have.
import { ringSignatureCountMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { people } from '../../../../test/support/signing.ts';
import { signersOf, signPayload } from './dsse.ts';
import { publicKeyOf } from './public-key.ts';

const payload = { type: 'application/test', bytes: Buffer.from('what is signed') };
const keys = new Map(
  people.ring.flatMap(({ id, spki }) => {
    const key = publicKeyOf(spki);
    return key === null ? [] : [[id, key] as const];
  }),
);
const [ada, bob] = people.ring.map(({ privateKey }) => signPayload(privateKey, payload));
if (ada === undefined || bob === undefined) throw new Error('no keys');
const wrong = { keyid: ada.keyid, sig: Buffer.alloc(64, 1).toString('base64') };

test('only the first signature of each key is verified', () => {
  const many = Array.from({ length: ringSignatureCountMax - 2 }, () => wrong);
  expect([...signersOf(payload, [...many, ada, bob], keys)]).toEqual([bob.keyid]);
  expect([...signersOf(payload, [ada, wrong, bob, ada], keys)]).toEqual([ada.keyid, bob.keyid]);
});
