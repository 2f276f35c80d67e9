// Tripwire: no message changes its form without a new wire version.
import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { messageKinds } from './messages.ts';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

/** SHA-256 of the JSON schemas of all messages, by wire version. A line never changes. */
const frozen: Readonly<Record<number, string>> = {
  18: '94b81d8b43ed095fedeb21c0ad7856b82883fa198d14ed23873193c7dece38b0',
  19: 'f59e53b4c018dd66c921599cfefa45917266bea473254a120324293114ef6c8c',
  20: '949041f8778a865a27e36501c15a5a5f02fba1cb192573ae0e9b41129be09f57',
  21: '0ae2b0acb29fe1ed9e27b38d154b3849bc16aea68682c6681e6553d22b2a7e93',
  22: 'b17b5309a7ac3b74badecde6c9bef92cb2cea2a30c21ecabd48f2d142e5487aa',
  23: '6b40feb61409f85fa6aef19cd98e0f7c43015370c7eff1173d2e7e53dac07296',
  24: 'cc4ef2b86feeb6eb01df1673948cfff4aeaf3da5cd5dd263843a99f31b52eb45',
  25: '0592c121e77b8fbe9cda492f28ef3e8b779eb2ee24d7c651c505f9ebdd007ce7',
  26: 'b3fe242c2f06cce93ae96519d6b5e4e65bb0143d63fc82826d5ff6010ea86e5f',
  27: '1d4a9c007ec71ea9a5aa19b2377b254bfe772656814bb65db1915c586fe9fce3',
  28: '4b47e0d682e741cf653008937ee7700515640080175f4fa52c7d5a7dc7caa232',
  29: 'f3e2cdf487af9e099c5c268b8700fed3ea3abb98eae7dba1d58760991fb02922',
  30: '64f5ed153cd4b18d51f9a6a3bc07267828a40eb6c88bd0651490e024ec62aee0',
  31: 'b06636d608077601f53d1dc3b99b428e630e5a3a9da76e5ad4e427e99dd62414',
  32: '52082e21696ab412227dca3bb540f863ae0c9c5ef0ca393ea0163469b9bd115e',
};

test('the messages are those of the wire version', () => {
  const forms = Object.values(messageKinds).map(({ method, request, answer }) => [
    method,
    formOf(request),
    formOf(answer),
  ]);
  const found = createHash('sha256').update(canonicalJson(forms)).digest('hex');
  const advice = 'a message changed: bump wireVersion and add a history line, here and there';
  expect(found, advice).toBe(frozen[wireVersion]);
});

test('every supported version has its line, and the last one is current', () => {
  const versions = Object.keys(frozen).map(Number);
  const count = wireVersion - oldestWireVersion + 1;
  expect(versions).toEqual(Array.from({ length: count }, (_, at) => oldestWireVersion + at));
});

/** Bytes have no JSON schema: for their fields the metadata counts. */
function formOf(schema: z.ZodType): Json {
  const form = z.toJSONSchema(schema, { unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(form)) as Json;
}
