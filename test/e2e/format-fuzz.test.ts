// Fuzzes the parsers of everything that unknown callers send: files, text fields and first bytes.
// The inputs come from a seed. Each has a limit on time and memory (TLS bundles, which are read
// from disk, have that of the test). FUZZ_ROUNDS makes the test longer, FUZZ_SEED replays a
// failure.
import { generateKeyPairSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createContext, Script } from 'node:vm';
import { decodeAccess, parseAccessFile } from '@ringwright/access/access-document';
import { parseLine } from '@ringwright/access/audit-line';
import { grantOfUri } from '@ringwright/access/grant';
import { openAccess } from '@ringwright/access/open-access';
import { parseToken, tokenText } from '@ringwright/access/token';
import { CodedError } from '@ringwright/base/coded-error';
import { keyBytesMax } from '@ringwright/base/limits';
import { type Random, seededRandom } from '@ringwright/base/random';
import { formatSessionToken, parseSessionToken } from '@ringwright/base/session-token';
import { applyRingDelta, makeRingDelta } from '@ringwright/ring/file/ring-delta';
import { decodeRing, encodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import { beaconPayload, openBeacon, printBeacon } from '@ringwright/ring/trust/beacon';
import { openReceipt, printReceipt } from '@ringwright/ring/trust/move-receipt';
import { newestRoot, parseTrustFile, printTrustFile } from '@ringwright/ring/trust/trust-chain';
import { readSwiftFile } from '@ringwright/swift/swift-file';
import { joinFrame, packEnvelope, unpackFrame } from '@ringwright/wire/frame';
import { packWrites, unpackWrites } from '@ringwright/wire/packed-writes';
import { readCursor, writeCursor } from '@ringwright/wire/scan-cursor';
import { describe, expect, test } from 'vitest';
import {
  lengthOf,
  packGreeting,
  packHead,
  ticketOf,
} from '../../packages/partition/src/carrier/copy-greeting.ts';
import { sampleRing } from '../../packages/ring/test/support/sample-ring.ts';
import { allowedHosts } from '../../packages/server/src/http/check-request.ts';
import { parseBatch } from '../../packages/server/src/http/http-batch-schema.ts';
import { writeCondition } from '../../packages/server/src/http/http-keys.ts';
import { keyOfPath } from '../../packages/server/src/http/key-request.ts';
import { globMatcher, globPrefix } from '../../packages/server/src/redis/glob.ts';
import { RespProtocolError, RespRequests } from '../../packages/server/src/redis/resp-requests.ts';
import { ScanCursors } from '../../packages/server/src/redis/scan-cursors.ts';
import { readTlsBundle } from '../../packages/server/src/tls-bundle.ts';
import { swiftFile } from '../../packages/swift/test/support/swift-ring.ts';
import { framesOf, RecordFileWriter } from '../../tools/ring-builder/records/record-file.ts';
import { granted, signedAccess, testToken } from '../support/access.ts';
import { makeCertificates, opensslHere } from '../support/certificates.ts';
import { hostileRedis, mutated, randomBytes } from '../support/hostile-input.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { people, signed, signedRing, signedRoot, testSigning } from '../support/signing.ts';

const rounds = Number(process.env.FUZZ_ROUNDS ?? 150);
const seed = Number(process.env.FUZZ_SEED ?? 20_261_123);
/** Time limit for one input. A slower input hangs: all others take a few milliseconds. */
const inputMsMax = 10_000;
/** Memory limit for one input of some kB, including uncollected garbage of the inputs before it. */
const inputBytesMax = 256 * 1024 * 1024;
const nowMs = Date.parse('2026-11-01T00:00:00Z');

const root = signedRoot();
const trust = newestRoot([root], null);
const firstRing = sampleRing({ power: 6, replicas: 3, devices: 9 });
const secondRing = sampleRing({ power: 6, replicas: 3, devices: 8 });
const ring = signedRing(firstRing, testSigning(root), people.ring.slice(0, 1)).bytes;
const [older, newer] = [firstRing, secondRing].map((one) => encodeRing(one).bytes);
const ordered: Ring = {
  ...sampleRing({ power: 2, replicas: 2, devices: 4 }),
  partitioner: { kind: 'ranges', partitions: 4, starts: ['g', 'n%00', 't'] },
};
const receipt = {
  ...{ cluster: 'test', keyspace: 'cities', version: 2, ring: 'a'.repeat(64), assignment: 1 },
  ...{ partition: 0, replica: 0 },
  ...{ from: 1, to: 2, copy: null, forced: null, merged: [] },
  file: { incarnation: 'i', seq: 1, digest: 'f'.repeat(16), rows: 1, bytes: 1 },
  ...{ ms: nowMs, born: 'b' },
};
const use = { keyspace: 'cities', reverse: false, ordered: false };

interface Parser {
  readonly name: string;
  readonly good: Uint8Array;
  readonly parse: (bytes: Buffer) => unknown;
}

const text = (word: string): Buffer => Buffer.from(word);
const beacon = beaconPayload({
  ...{ cluster: 'test', epoch: 1, keyspace: 'cities', version: 1, id: 'a'.repeat(64) },
  ...{ issuedMs: nowMs, expiresMs: nowMs + 60_000 },
});

const parsers: readonly Parser[] = [
  { name: 'ring file', good: ring, parse: decodeRing },
  {
    name: 'ring delta',
    good: makeRingDelta(older!, newer!)!,
    parse: (bytes) => applyRingDelta(older!, bytes),
  },
  { name: 'ring file, of ranges', good: encodeRing(ordered).bytes, parse: decodeRing },
  ...['f02_holes_v2.ring.gz', 'f02_holes_v4.builder', 'v0_object_2.ring.gz'].map((file) => ({
    name: `file of Swift, ${file}`,
    good: swiftFile(file),
    parse: readSwiftFile,
  })),
  {
    name: 'receipt of a move',
    good: text(printReceipt(receipt, generateKeyPairSync('ed25519').privateKey)),
    parse: (bytes) => openReceipt(String(bytes)),
  },
  { name: 'roots of trust', good: text(printTrustFile([root])), parse: parseTrustFile },
  {
    name: 'beacon',
    good: printBeacon(signed(beacon, people.beacon)),
    parse: (bytes) => openBeacon(bytes, [trust], nowMs),
  },
  {
    name: 'access document',
    good: signedAccess({ tokens: [granted('ada', [{ role: 'operator' }])] }),
    parse: (bytes) => openAccess(bytes, [trust], nowMs),
  },
  {
    name: 'access document, unverified',
    good: signedAccess({ tokens: [granted('ada', [{ role: 'operator' }])] }),
    parse: (bytes) => decodeAccess(parseAccessFile(bytes)),
  },
  {
    name: 'token',
    good: text(tokenText(testToken('ada'))),
    parse: (bytes) => parseToken(bytes.toString()),
  },
  {
    name: 'role in a certificate',
    good: text('urn:ringwright:read:notes/user%3A'),
    parse: (bytes) => grantOfUri(bytes.toString()),
  },
  {
    name: 'cursor',
    good: text(writeCursor({ partition: 3, at: text('key') }, use)),
    parse: (bytes) => readCursor(bytes.toString(), use),
  },
  {
    name: 'frame',
    good: joinFrame([packEnvelope([0, 1, 'coordinate-get', { key: text('key') }])]),
    parse: unpackFrame,
  },
  {
    name: 'many writes, of messages and archives',
    good: packWrites([
      { partition: 3, key: text('key'), value: text('x'), ms: 1, tie: 2, expiresMs: 3 },
      { partition: 3, key: text('gone'), value: null, ms: 1, tie: 2, origin: { ms: 1, tie: 1 } },
    ]),
    parse: unpackWrites,
  },
  {
    name: 'session token',
    good: text(formatSessionToken({ ms: nowMs, tie: 3, weak: true })),
    parse: (bytes) => parseSessionToken(String(bytes)),
  },
  {
    name: 'cursor of Redis',
    good: text(String(2 ** 52 + 2 ** 28)),
    parse: (bytes) => new ScanCursors().read(Number(String(bytes)), firstRing),
  },
  {
    name: 'pattern of Redis',
    good: text('*key-[^a-z0-9]?\\*\\[*b'),
    parse: (bytes) => globMatcher(bytes)(Buffer.alloc(keyBytesMax, 'key-')) || globPrefix(bytes),
  },
  {
    name: 'conditions of a request',
    good: text('W/"1-2", *'),
    parse: (bytes) => writeCondition({ 'if-match': String(bytes), 'if-none-match': '*' })?.(null),
  },
  {
    name: 'Host header',
    good: text('sd1.example.:6200'),
    parse: (bytes) => allowedHosts(['.example'])(bytes.toString('latin1')),
  },
  { name: 'key in a path', good: text('a%2Fb/%C3%A9'), parse: (bytes) => keyOfPath(String(bytes)) },
  {
    name: 'batch',
    good: text(JSON.stringify({ items: [{ op: 'put', key: 'a', value: 'b' }] })),
    parse: parseBatch,
  },
  { name: 'ticket of a copy', good: packGreeting('ab'.repeat(32)), parse: ticketOf },
  { name: 'head of a copy', good: packHead(4_096), parse: lengthOf },
  {
    name: 'line of an audit log',
    good: text('{"seq":1}'),
    parse: (line) => parseLine(String(line)),
  },
];

const context = createContext({ work: () => undefined });
const script = new Script('work()');

/** Runs `work` within both limits. The time limit also ends code that never yields. */
function within(work: () => unknown): void {
  const before = process.memoryUsage.rss();
  context['work'] = work;
  script.runInContext(context, { timeout: inputMsMax });
  expect(process.memoryUsage.rss() - before).toBeLessThan(inputBytesMax);
}

/** Accepts typed refusals. Any other error is a defect of the parser and is rethrown. */
function taken(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof CodedError || error instanceof RespProtocolError)) throw error;
  }
}

const inputOf = (random: Random, good: Uint8Array): Buffer =>
  random.below(8) === 0 ? randomBytes(random, 2_000) : mutated(random, good);

const replay = (name: string, round: number): string =>
  `replay: FUZZ_SEED=${seed + round} FUZZ_ROUNDS=1 npx vitest run test/e2e/format-fuzz -t '${name}'`;

/** Runs `work` within the limits and names the input if it fails. */
function told(what: string, work: () => unknown): void {
  try {
    within(() => taken(work));
  } catch (cause) {
    throw new Error(what, { cause });
  }
}

describe(`seed ${seed}`, { timeout: 60_000 + rounds * 100 }, () => {
  test.each(parsers)('$name', ({ name, good, parse }) => {
    expect(() => parse(Buffer.from(good)), 'what is mutated is good').not.toThrow();
    for (let round = 0; round < rounds; round += 1) {
      const input = inputOf(seededRandom(seed + round), good);
      told(replay(name, round), () => parse(input));
    }
  });

  test('hostile requests of the Redis protocol are parsed or refused', () => {
    for (let round = 0; round < rounds; round += 1) {
      const random = seededRandom(seed + round);
      const stream = Buffer.concat([hostileRedis(random), inputOf(random, hostileRedis(random))]);
      const cut = random.below(stream.length + 1);
      told(replay('Redis', round), () => {
        const requests = new RespRequests();
        for (const piece of [stream.subarray(0, cut), stream.subarray(cut)]) {
          requests.push(piece);
          while (requests.next() !== null);
        }
      });
    }
  });

  test('a damaged archive is read or refused with a code', async () => {
    await using folder = await scratchFolder();
    const writer = await RecordFileWriter.begin(folder.path, null);
    await writer.add({ key: text('key'), value: text('x'), ms: 1, tie: 2, expiresMs: 0 });
    const manifest = { sha256: await writer.end() };
    const file = path.join(folder.path, 'records.bin');
    const good = await readFile(file);
    for (let round = 0; round < rounds; round += 1) {
      await writeFile(file, inputOf(seededRandom(seed + round), good));
      const frames = Array.fromAsync(framesOf(folder.path, manifest));
      const refusal = await frames.catch((error: unknown) => error);
      if (refusal instanceof Error) {
        expect(refusal, replay('archive', round)).toBeInstanceOf(CodedError);
      }
    }
  });

  test.runIf(opensslHere)('damaged bundles of TLS are read or refused with a code', async () => {
    await using folder = await scratchFolder();
    const { cert, key } = await makeCertificates(folder.path);
    const good = Buffer.concat([await readFile(key), await readFile(cert)]);
    const file = path.join(folder.path, 'bundle.pem');
    for (let round = 0; round < rounds; round += 1) {
      const random = seededRandom(seed + round);
      await writeFile(file, inputOf(random, good), {
        mode: 0o600,
      });
      const refusal = await readTlsBundle(file).catch((error: unknown) => error);
      if (refusal instanceof Error) {
        expect(refusal, replay('bundles', round)).toBeInstanceOf(CodedError);
      }
    }
  });
});
