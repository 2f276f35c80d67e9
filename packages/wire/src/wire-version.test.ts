// Tripwire: no message changes its form without a new wire version.
import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '@ringwright/base/canonical-json';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { messageKinds } from './messages.ts';
import { wireVersion } from './wire-version.ts';

/** SHA-256 of the JSON schemas of all messages, by wire version. A line never changes. */
const frozen: Readonly<Record<number, string>> = {
  1: '4d2f49eea1982e1f5174a31e4ef10375a0a78492b698a3f37630f016d465611f',
  2: '2173d4e89bdc0d5c7c77da50e6397a4dbc0f60fc0687c4643b1b13b0943b85b2',
  3: '84e473546c8e8d0ae6694bccdcb34b15677b24e3f72cfa6e2b26937eb5749684',
  4: '059f825e489bca73fd07f23aa2e34444f5986069146200abc5d1072e8b4ebcf1',
  5: '785f6ce87c995b43dfa35644a7c0dc8939d3cbf71daa07f17f1ba43fa567fa92',
  6: 'cec36533d3ce774473c6d36ae39294eaceae02e157f23c8fa9021c7c7da5a050',
  7: '6de95bdad5dde8ec5d0c36c119e1cb4b59bd3d8feb5c70d6ef5eb2f4616d1a80',
  8: '04eac28f83756d080b8e541f8918b6de32b01e6c882f74c3973eac912e9692d1',
  9: 'd6ec577e95b7f4bca6d80dd4e850acfdcd535733557200b270d465029b60964f',
  10: 'c02996f6ae0340cdb159f16dbb04564e243330b88ca6252470d8bf2f35842e22',
  11: '5c2b68ee7b638ccbae0383fb4a8584f994356c2a60ab68f296387e7e072ecae2',
  12: 'a956b21ae91b903373179c11ad06a0689b3319c7b07ec4f5afe304f521fc78c9',
  13: '666c9a65e4717132e7e60c826b8501d238ff3310c21d307910efd5e0085dbe71',
  14: '34a6eb4d85294d92aa3d4c83eaa3c398b2673f5231bfedf0c55029f63883fff8',
  15: 'fb4279cfa2fbfbf960367260a0fe0fe64f38c16b02eb152fe9ba6f5594cb23f7',
  16: 'b41f0a78f6e7333f9d758347a133adcab442341678c8735c613c6516eed63ad9',
  17: '9fab0741aa05c8903bcba72215aaa43aadce8831797a593ac5bb74a8f8553ec5',
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

test('every version has its line, and the last is the current one', () => {
  const versions = Object.keys(frozen).map(Number);
  expect(versions).toEqual(Array.from({ length: wireVersion }, (_, index) => index + 1));
});

/** Bytes have no JSON schema: of their fields the metadata counts. */
function formOf(schema: z.ZodType): Json {
  const form = z.toJSONSchema(schema, { unrepresentable: 'any' });
  return JSON.parse(JSON.stringify(form)) as Json;
}
