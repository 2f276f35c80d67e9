// The native ring file, formats 1 and 2: a ring as bytes and back. Equal rings give equal bytes.
// Layout, byte by byte: DESIGN.md beside this. Pure.
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import {
  ringEnvelopeBytesMax,
  ringFileBytesMax,
  ringManifestBytesMax,
} from '@ringwright/base/limits';
import type { Partitioner } from '../partitioner/partitioner.ts';
import { partitionerSettings } from '../partitioner/partitioner-settings.ts';
import type { Ring } from '../ring.ts';
import { deviceIdBytes } from '../slot-rows.ts';
import { decodeIntervals, encodeIntervals } from './interval-section.ts';
import { decodeEnvelope, encodeEnvelope, type RingSignature } from './ring-envelope.ts';
import { fileInvalid } from './ring-file-error.ts';
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  type Section,
  type Signing,
  sha256,
} from './ring-manifest.ts';
import {
  decodeAssignments,
  decodeDevices,
  decodeMoves,
  encodeAssignments,
  encodeDevices,
  encodeMoves,
} from './ring-sections.ts';
import { decodeRuns, encodeRuns } from './run-lengths.ts';

/** High bit, CR LF, ^Z, LF: damage by text-mode copies shows in the first bytes, as in PNG. */
const magic = Buffer.from('\x89RWR\r\n\x1a\n', 'latin1');
/** Of rings whose partitions are intervals: programs that know only format 1 refuse them. */
const intervalFormat = 2;
const formats = [1, intervalFormat];
const prefixBytes = 20;
const ownSections = ['devices', 'assignments', 'moves', 'minVersions', 'intervals', 'builder'];

export interface RingFileExtras {
  /** Opaque bytes that restore the builder; servers ignore them. */
  readonly builder?: Uint8Array;
  /** Sections of other programs, kept as they are. */
  readonly extraSections?: readonly Section[];
  /** Of a ring that will be signed; the signatures follow, over the manifest's bytes. */
  readonly signing?: Signing;
  readonly signatures?: readonly RingSignature[];
}

/** The file of a ring, and the ring id: SHA-256 (hex) of the manifest's bytes. */
export function encodeRing(ring: Ring, extras: RingFileExtras = {}): { bytes: Buffer; id: string } {
  const idBytes = deviceIdBytes(ring.devices.length);
  const { builder, extraSections = [], signing, signatures = [] } = extras;
  assert(
    extraSections.every(({ name }) => !ownSections.includes(name)),
    `an extra section is called ${ownSections.join(', ')}`,
  );
  const intervals = encodeIntervals(ring.partitioner);
  const sections: readonly Section[] = [
    { name: 'devices', bytes: encodeDevices(ring.devices) },
    { name: 'assignments', bytes: encodeAssignments(ring.table, idBytes) },
    { name: 'moves', bytes: encodeMoves(ring.moves) },
    { name: 'minVersions', bytes: encodeRuns(ring.minVersions) },
    ...(intervals === null ? [] : [{ name: 'intervals', bytes: intervals }]),
    ...(builder === undefined ? [] : [{ name: 'builder', bytes: builder }]),
    ...extraSections,
  ];
  const manifest = encodeManifest({
    ...manifestOf(ring, sections),
    ...(signing === undefined ? {} : { signing }),
  });
  const id = sha256(manifest);
  const bytes = ringFileOf({
    format: formatOf(ring.partitioner),
    envelope: encodeEnvelope(id, signatures),
    manifest,
    sections: sections.map((one) => one.bytes),
  });
  if (bytes.length > ringFileBytesMax) throw tooLarge('file', bytes.length, ringFileBytesMax);
  if (manifest.length > ringManifestBytesMax) {
    throw tooLarge('manifest', manifest.length, ringManifestBytesMax);
  }
  return { bytes, id };
}

export interface ManifestHead extends Omit<Manifest, 'sections'> {
  readonly id: string;
  /** Exact length of the whole file. */
  readonly fileBytes: number;
}

/**
 * What the head of a file says of its ring; `bytes` may stop after the manifest. The sections are
 * not looked at. Throws RING_FILE_INVALID, RING_FORMAT_UNKNOWN, RING_TOO_LARGE.
 */
export function readManifestHead(bytes: Uint8Array): ManifestHead {
  const { id, manifest, fileBytes } = readHead(bytes);
  const { sections: _, ...head } = manifest;
  return { ...head, id, fileBytes };
}

export interface RingFile {
  readonly ring: Ring;
  readonly id: string;
  readonly builder: Buffer | null;
  readonly extraSections: readonly Section[];
  /** As the file has them: nobody has verified them yet (authenticate-ring.ts does). */
  readonly signatures: readonly RingSignature[];
  /** Null in unsigned rings. */
  readonly signing: Signing | null;
}

/**
 * The ring of a whole file, every length and digest verified. Whether the ring is a good one is for
 * `auditRing` to say. Throws RING_FILE_INVALID, RING_FORMAT_UNKNOWN, RING_TOO_LARGE.
 */
export function decodeRing(bytes: Uint8Array): RingFile {
  const { id, manifest, signatures, sectionsAt, fileBytes } = readHead(bytes);
  if (bytes.length !== fileBytes) throw fileInvalid('file length', bytes.length, fileBytes);
  const sections = readSections(asBuffer(bytes).subarray(sectionsAt), manifest);
  const section = (name: string): Buffer => {
    const found = sections.get(name);
    if (found === undefined) throw fileInvalid(`section ${name}`, 'absent', 'present');
    return found;
  };
  const { keyspace, cluster, version, parent, partitions, replicas } = manifest;
  const wantedIdBytes = deviceIdBytes(manifest.deviceCount);
  if (manifest.deviceIdBytes !== wantedIdBytes) {
    throw fileInvalid('deviceIdBytes', manifest.deviceIdBytes, wantedIdBytes);
  }
  const ring: Ring = {
    keyspace,
    cluster,
    version,
    parent,
    partitioner: decodeIntervals(manifest.partitioner, () => section('intervals')),
    partitions,
    replicas,
    devices: decodeDevices(section('devices'), manifest.deviceCount),
    table: decodeAssignments(section('assignments'), manifest),
    moves: decodeMoves(section('moves')),
    minVersions: decodeRuns(section('minVersions'), partitions),
    nextAssignment: manifest.nextAssignment,
  };
  const extraSections = [...sections]
    .filter(([name]) => !ownSections.includes(name))
    .map(([name, content]) => ({ name, bytes: content }));
  const builder = sections.get('builder') ?? null;
  return { ring, id, builder, extraSections, signatures, signing: manifest.signing ?? null };
}

function manifestOf(ring: Ring, sections: readonly Section[]): Manifest {
  const { keyspace, cluster, version, parent, partitions, replicas } = ring;
  return {
    keyspace,
    cluster,
    version,
    parent,
    partitioner: partitionerSettings(ring.partitioner),
    partitions,
    replicas,
    deviceCount: ring.devices.length,
    deviceIdBytes: deviceIdBytes(ring.devices.length),
    nextAssignment: ring.nextAssignment,
    sections: sections.map(({ name, bytes }) => ({
      name,
      bytes: bytes.length,
      sha256: sha256(bytes),
    })),
  };
}

interface Head {
  readonly id: string;
  readonly manifest: Manifest;
  readonly signatures: readonly RingSignature[];
  readonly sectionsAt: number;
  readonly fileBytes: number;
}

function readHead(file: Uint8Array): Head {
  const { format, id, signatures, manifest: raw, sectionsAt } = splitRingFile(file);
  const manifest = decodeManifest(raw);
  const wanted = formatOf(manifest.partitioner);
  if (format !== wanted) throw fileInvalid('format', format, wanted);
  const fileBytes = manifest.sections.reduce((sum, section) => sum + section.bytes, sectionsAt);
  if (fileBytes > ringFileBytesMax) throw tooLarge('file', fileBytes, ringFileBytesMax);
  return { id, manifest, signatures, sectionsAt, fileBytes };
}

export interface SplitRingFile {
  readonly format: number;
  readonly id: string;
  readonly signatures: readonly RingSignature[];
  /** The manifest's bytes, unparsed: what signatures are over. Its digest is the id. */
  readonly manifest: Buffer;
  /** Where the sections begin. */
  readonly sectionsAt: number;
}

/** The parts of a file, of which only the envelope is parsed. Throws as readManifestHead does. */
export function splitRingFile(file: Uint8Array): SplitRingFile {
  const bytes = asBuffer(file);
  if (bytes.length > ringFileBytesMax) throw tooLarge('file', bytes.length, ringFileBytesMax);
  if (bytes.length < prefixBytes) throw fileInvalid('file length', bytes.length, '20 or more');
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    throw fileInvalid('magic', bytes.toString('hex', 0, magic.length), magic.toString('hex'));
  }
  const format = bytes.readUInt32BE(8);
  if (!formats.includes(format)) throw formatUnknown(format);
  const envelopeBytes = bytes.readUInt32BE(12);
  const manifestBytes = bytes.readUInt32BE(16);
  if (envelopeBytes > ringEnvelopeBytesMax) {
    throw tooLarge('envelope', envelopeBytes, ringEnvelopeBytesMax);
  }
  if (manifestBytes > ringManifestBytesMax) {
    throw tooLarge('manifest', manifestBytes, ringManifestBytesMax);
  }
  const manifestAt = prefixBytes + envelopeBytes;
  const sectionsAt = manifestAt + manifestBytes;
  if (bytes.length < sectionsAt) {
    throw fileInvalid('file length', bytes.length, `${sectionsAt} or more`);
  }
  const { id, signatures } = decodeEnvelope(bytes.subarray(prefixBytes, manifestAt));
  const manifest = bytes.subarray(manifestAt, sectionsAt);
  const found = sha256(manifest);
  if (found !== id) throw fileInvalid('SHA-256 of the manifest', found, id);
  return { format, id, signatures, manifest, sectionsAt };
}

/**
 * The same ring with other signatures: only the envelope changes, not the id. Throws as
 * readManifestHead does.
 */
export function withSignatures(file: Uint8Array, signatures: readonly RingSignature[]): Buffer {
  const { format, id, manifest, sectionsAt } = splitRingFile(file);
  const sections = [asBuffer(file).subarray(sectionsAt)];
  return ringFileOf({ format, envelope: encodeEnvelope(id, signatures), manifest, sections });
}

function formatOf({ kind }: Pick<Partitioner, 'kind'>): number {
  return kind === 'md5-shift' || kind === 'murmur3-mod' ? 1 : intervalFormat;
}

function ringFileOf({
  format,
  envelope,
  manifest,
  sections,
}: {
  readonly format: number;
  readonly envelope: Buffer;
  readonly manifest: Buffer;
  readonly sections: readonly Uint8Array[];
}): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  magic.copy(prefix);
  prefix.writeUInt32BE(format, 8);
  prefix.writeUInt32BE(envelope.length, 12);
  prefix.writeUInt32BE(manifest.length, 16);
  return Buffer.concat([prefix, envelope, manifest, ...sections]);
}

function readSections(bytes: Buffer, manifest: Manifest): Map<string, Buffer> {
  const sections = new Map<string, Buffer>();
  let offset = 0;
  for (const { name, bytes: length, sha256: wanted } of manifest.sections) {
    const content = bytes.subarray(offset, offset + length);
    offset += length;
    const found = sha256(content);
    if (found !== wanted) throw fileInvalid(`SHA-256 of section ${name}`, found, wanted);
    if (sections.has(name)) throw fileInvalid(`section ${name}`, 'there twice', 'there once');
    sections.set(name, content);
  }
  return sections;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function formatUnknown(format: number): CodedError {
  return new CodedError(
    'RING_FORMAT_UNKNOWN',
    `ring file has format ${format}, this program reads formats ${formats.join(' and ')}`,
    { hint: 'use a newer version of this program', details: { format, known: formats } },
  );
}

function tooLarge(what: string, bytes: number, max: number): CodedError {
  return new CodedError('RING_TOO_LARGE', `ring ${what} of ${bytes} bytes, at most ${max}`, {
    hint: 'fewer partitions, replicas or devices make a smaller file',
    details: { what, bytes, max },
  });
}
