// Tests files whose digests are right but whose content is wrong: made by a program, not by damage.
import { CodedError } from '@ringwright/base/coded-error';
import { sha256 } from '@ringwright/base/sha256';
import { expect, test } from 'vitest';
import { sampleRing } from '../../test/support/sample-ring.ts';
import { encodeEnvelope } from './ring-envelope.ts';
import { decodeRing, encodeRing } from './ring-file.ts';

type Json = Record<string, unknown>;
interface Parts {
  readonly manifest: Json;
  readonly sections: Map<string, Buffer>;
}

function partsOf(file: Buffer): Parts {
  const manifestAt = 20 + file.readUInt32BE(12);
  let at = manifestAt + file.readUInt32BE(16);
  const manifest = JSON.parse(file.toString('utf8', manifestAt, at)) as Json;
  const sections = new Map<string, Buffer>();
  for (const { name, bytes } of manifest['sections'] as { name: string; bytes: number }[]) {
    sections.set(name, file.subarray(at, at + bytes));
    at += bytes;
  }
  return { manifest, sections };
}

/** Returns a file of these parts with right lengths and digests. `listed`: the list of sections. */
function forge({ manifest, sections }: Parts, listed?: unknown): Buffer {
  const list = [...sections].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    sha256: sha256(bytes),
  }));
  const text = Buffer.from(JSON.stringify({ ...manifest, sections: listed ?? list }));
  const envelope = encodeEnvelope(sha256(text), []);
  const head = Buffer.alloc(20);
  encodeRing(ring).bytes.copy(head, 0, 0, 12);
  head.writeUInt32BE(envelope.length, 12);
  head.writeUInt32BE(text.length, 16);
  return Buffer.concat([head, envelope, text, ...sections.values()]);
}

const ring = sampleRing({ power: 2, replicas: 2, devices: 4 });

const manifestFaults: [string, Json, RegExp][] = [
  ['too many partitions', { partitions: 2 ** 24 + 1 }, /invalid in partitions/],
  [
    'the most partitions, in few bytes',
    { partitions: 2 ** 24, replicas: 32 },
    /assignments is 16 /,
  ],
  ['half a partition', { partitions: 3.5 }, /invalid in partitions/],
  ['too many replicas', { replicas: 33 }, /invalid in replicas/],
  ['no replicas', { replicas: 0 }, /invalid in replicas/],
  ['replicas that make no slot', { partitions: 1, replicas: 0.1 }, /expected 0 bytes/],
  ['version 0', { version: 0 }, /invalid in version/],
  ['a parent that is no id', { parent: 'abc' }, /invalid in parent/],
  ['an unknown partitioner', { partitioner: { kind: 'sha-shift' } }, /invalid in partitioner/],
  ['three-byte ids', { deviceIdBytes: 3 }, /invalid in deviceIdBytes/],
  ['four-byte ids for few devices', { deviceIdBytes: 4 }, /deviceIdBytes is 4, expected 2/],
  ['one device more', { deviceCount: 5 }, /device count is 4, expected 5/],
];

test.each(manifestFaults)('a manifest with %s is refused', (_, change, message) => {
  const parts = partsOf(encodeRing(ring).bytes);
  expect(() => decodeRing(forge({ ...parts, manifest: { ...parts.manifest, ...change } }))).toThrow(
    message,
  );
});

const words = (...values: number[]): Buffer =>
  Buffer.concat(values.map((value) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex')));

const sectionFaults: [string, string, Buffer, RegExp][] = [
  ['devices that are no JSON', 'devices', Buffer.from('{'), /devices is 1 bytes that are not JSON/],
  ['devices in broken UTF-8', 'devices', Buffer.of(0x22, 0xff, 0x22), /not JSON/],
  ['a device without fields', 'devices', Buffer.from('[{}]'), /invalid in 0/],
  ['a slot too few', 'assignments', Buffer.alloc(14), /14 bytes, expected 16 bytes/],
  ['a slot too many', 'assignments', Buffer.alloc(18), /18 bytes, expected 16 bytes/],
  ['half a move', 'moves', Buffer.alloc(27), /section moves is 27 bytes/],
  ['a move in no state', 'moves', Buffer.alloc(28), /state of a move is 0/],
  ['runs that stop early', 'minVersions', words(3, 1), /with a minVersion is 3, expected 4/],
  ['runs that go on', 'minVersions', words(4, 1, 1, 2), /expected 1 to 0 partitions/],
  ['an endless run', 'minVersions', words(0xffffffff, 1), /is 4294967295, expected 1 to 4/],
  ['an empty run', 'minVersions', words(0, 1, 4, 1), /is 0, expected 1 to 4/],
  ['a run in two halves', 'minVersions', words(2, 1, 2, 1), /1 again/],
  ['half a run', 'minVersions', words(4), /length of section minVersions is 4/],
];

test.each(sectionFaults)('a file with %s is refused', (...[, name, bytes, message]) => {
  const parts = partsOf(encodeRing(ring).bytes);
  const forged = forge({ ...parts, sections: new Map(parts.sections).set(name, bytes) });
  expect(() => decodeRing(forged)).toThrow(message);
  expect(() => decodeRing(forged)).toThrow(CodedError);
});

test.each(['devices', 'assignments', 'moves', 'minVersions'])('section %s is required', (name) => {
  const parts = partsOf(encodeRing(ring).bytes);
  parts.sections.delete(name);
  expect(() => decodeRing(forge(parts))).toThrow(`section ${name} is absent`);
});

test('a file that lists a section twice is refused', () => {
  const parts = partsOf(encodeRing(ring).bytes);
  const sections = new Map([...parts.sections, ['Devices', Buffer.from('[]')]]);
  const list = [...sections].map(([name, bytes]) => ({
    name: name.toLowerCase() === 'devices' ? 'devices' : name,
    bytes: bytes.length,
    sha256: sha256(bytes),
  }));
  expect(() => decodeRing(forge({ ...parts, sections }, list))).toThrow(/devices is present twice/);
});

test('unknown members of a manifest are ignored, and the ring id covers them', () => {
  const parts = partsOf(encodeRing(ring).bytes);
  const forged = forge({ ...parts, manifest: { ...parts.manifest, created: 'by hand' } });
  expect(decodeRing(forged).ring).toEqual(ring);
  expect(decodeRing(forged).id).not.toBe(encodeRing(ring).id);
});
