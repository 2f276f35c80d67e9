// Tests receipts: they are read back as written, and no byte of a signed receipt can be changed.
import { generateKeyPairSync } from 'node:crypto';
import { forceReasonCharactersMax, receiptBytesMax } from '@ringwright/base/limits-copies';
import { seededRandom } from '@ringwright/base/random';
import { describe, expect, test } from 'vitest';
import { type MoveReceipt, openReceipt, printReceipt } from './move-receipt.ts';

const { privateKey: key } = generateKeyPairSync('ed25519');
const most = Number.MAX_SAFE_INTEGER;
const long = 'f'.repeat(64);
const largest: Omit<MoveReceipt, 'key'> = {
  cluster: 'c'.repeat(128),
  keyspace: `k${'-'.repeat(62)}`,
  version: most,
  ring: long,
  partition: 2 ** 24 - 1,
  replica: 31,
  assignment: most,
  from: 99_999,
  to: 99_998,
  copy: {
    device: 99_999,
    incarnation: long,
    seq: most,
    digest: 'f'.repeat(16),
    rows: most,
    bytes: most,
  },
  forced: '"'.repeat(forceReasonCharactersMax),
  merged: Array.from({ length: 32 }, () => 99_999),
  file: { incarnation: long, seq: most, digest: 'f'.repeat(16), rows: most, bytes: most },
  ms: most,
  born: long,
};

const codeOf = (line: string): string => {
  try {
    openReceipt(line);
    return 'opened';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
};

describe('a receipt', () => {
  test('the largest receipt fits the limit and is read back, signed or not', () => {
    const signed = printReceipt(largest, key);
    expect(Buffer.byteLength(signed)).toBeLessThanOrEqual(receiptBytesMax);
    const { key: named, ...rest } = openReceipt(signed);
    expect(rest).toEqual(largest);
    expect(named).not.toBeNull();
    expect(openReceipt(printReceipt(largest, null)).key).toBeNull();
  });

  test('a signed receipt with a changed character is refused', () => {
    const line = printReceipt(largest, key);
    const random = seededRandom(7);
    for (let round = 0; round < 400; round += 1) {
      const at = random.below(line.length);
      const other = String.fromCharCode(33 + random.below(90));
      if (line[at] === other) continue;
      const changed = line.slice(0, at) + other + line.slice(at + 1);
      expect(codeOf(changed), `character ${at} as ${other}`).toBe('RECEIPT_INVALID');
    }
  });

  test('a receipt with no signature, a doubled one or that of another key is refused', () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const document = JSON.parse(printReceipt(largest, key));
    const theirs = JSON.parse(printReceipt(largest, other));
    for (const signatures of [
      [],
      [...document.signatures, ...document.signatures],
      theirs.signatures,
    ]) {
      expect(codeOf(JSON.stringify({ ...document, signatures }))).toBe('RECEIPT_INVALID');
    }
  });
});
