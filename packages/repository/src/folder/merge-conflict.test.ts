// Tests that a conflict of git in a file of a rings folder is named, with what undoes it.
import { parseAccessFile } from '@ringwright/access/access-document';
import { parseTrustFile } from '@ringwright/ring/trust/trust-chain';
import { expect, test } from 'vitest';
import { parseBuilderFile } from './builder-file.ts';
import { parseLogLine } from './log-entry.ts';

const text = '{\n<<<<<<< HEAD\n  "format": 1\n=======\n  "format": 1\n>>>>>>> theirs\n}\n';
const named = expect.stringMatching(/is a conflict of a git merge: git merge --abort/);

test('the log and builder.json', () => {
  expect(parseLogLine('<<<<<<< HEAD')).toEqual(named);
  expect(parseBuilderFile(text)).toEqual(named);
  expect(parseBuilderFile('{')).toBe('is not JSON');
});

test('trust.json and access.json', () => {
  expect(() => parseTrustFile(Buffer.from(text))).toThrow(
    expect.objectContaining({ message: named }),
  );
  expect(() => parseAccessFile(Buffer.from(text))).toThrow(
    expect.objectContaining({ message: named }),
  );
});
