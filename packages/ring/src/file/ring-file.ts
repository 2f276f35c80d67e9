// The native ring file, formats 1 to 4: a ring as bytes and back. Equal rings give equal bytes.
// ring-container.ts holds the sections together. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';
import { assert } from '@ringwright/base/assert';
import { ringFileBytesMax, ringManifestBytesMax } from '@ringwright/base/limits';
import { sha256 } from '@ringwright/base/sha256';
import { isIntervals } from '../partitioner/partitioner.ts';
import {
  type PartitionerSettings,
  partitionerSettings,
} from '../partitioner/partitioner-settings.ts';
import type { Ring } from '../ring.ts';
import { deviceIdBytes } from '../slot-rows.ts';
import { decodeIntervals, encodeIntervals } from './interval-section.ts';
import {
  intervalFormat,
  joinRingFile,
  reshapeFormat,
  retireFormat,
  splitRingFile,
} from './ring-container.ts';
import { encodeEnvelope, type RingSignature } from './ring-envelope.ts';
import { fileInvalid, tooLarge } from './ring-file-error.ts';
import {
  decodeManifest,
  encodeManifest,
  type Manifest,
  type Section,
  type Signing,
} from './ring-manifest.ts';
import {
  decodeAssignments,
  decodeDevices,
  decodeMoves,
  decodeRuns,
  encodeAssignments,
  encodeDevices,
  encodeMoves,
  encodeRuns,
} from './ring-sections.ts';

const ownSections = [
  ...['devices', 'assignments', 'moves', 'minVersions'],
  ...['intervals', 'reshape', 'builder'],
];

interface RingFileExtras {
  /** Opaque bytes that restore the builder; servers ignore them. */
  readonly builder?: Uint8Array;
  /** Sections of other programs, kept unchanged. */
  readonly extraSections?: readonly Section[];
  /** For a ring that is to be signed; the signatures follow, over the manifest's bytes. */
  readonly signing?: Signing;
  readonly signatures?: readonly RingSignature[];
}

/** Returns the file of a ring, and the ring id: SHA-256 (hex) of the manifest's bytes. */
export function encodeRing(ring: Ring, extras: RingFileExtras = {}): { bytes: Buffer; id: string } {
  const idBytes = deviceIdBytes(ring.devices.length);
  const { builder, extraSections = [], signing, signatures = [] } = extras;
  assert(
    extraSections.every(({ name }) => !ownSections.includes(name)),
    `an extra section is called ${ownSections.join(', ')}`,
  );
  const intervals = encodeIntervals(ring.partitioner);
  const reshapeIntervals =
    ring.reshape === undefined ? null : encodeIntervals(ring.reshape.partitioner);
  const sections: readonly Section[] = [
    { name: 'devices', bytes: encodeDevices(ring.devices) },
    { name: 'assignments', bytes: encodeAssignments(ring.table, idBytes) },
    { name: 'moves', bytes: encodeMoves(ring.moves) },
    { name: 'minVersions', bytes: encodeRuns(ring.minVersions) },
    ...(intervals === null ? [] : [{ name: 'intervals', bytes: intervals }]),
    ...(reshapeIntervals === null ? [] : [{ name: 'reshape', bytes: reshapeIntervals }]),
    ...(builder === undefined ? [] : [{ name: 'builder', bytes: builder }]),
    ...extraSections,
  ];
  const described = manifestOf(ring, sections);
  const manifest = encodeManifest({ ...described, ...(signing && { signing }) });
  const id = sha256(manifest);
  const bytes = joinRingFile({
    format: formatOf(described),
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

interface ManifestHead extends Omit<Manifest, 'sections'> {
  readonly id: string;
  /** Exact length of the whole file. */
  readonly fileBytes: number;
}

/**
 * Reads the head of a file, without the sections; `bytes` may end after the manifest. Throws
 * RING_FILE_INVALID, RING_FORMAT_UNKNOWN, RING_TOO_LARGE.
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
  /** The file's signatures, not yet verified (authenticate-ring.ts does that). */
  readonly signatures: readonly RingSignature[];
  /** Null in unsigned rings. */
  readonly signing: Signing | null;
}

/**
 * Returns the ring of a whole file, with every length and digest verified. `auditRing` decides
 * whether the ring is sound. Throws RING_FILE_INVALID, RING_FORMAT_UNKNOWN, RING_TOO_LARGE.
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
  const { keyspace, cluster, version, parent, ancestors, partitions, replicas } = manifest;
  const wantedIdBytes = deviceIdBytes(manifest.deviceCount);
  if (manifest.deviceIdBytes !== wantedIdBytes) {
    throw fileInvalid('deviceIdBytes', manifest.deviceIdBytes, wantedIdBytes);
  }
  const ring: Ring = {
    keyspace,
    cluster,
    version,
    parent,
    ...(ancestors && { ancestors }),
    partitioner: decodeIntervals(manifest.partitioner, () => section('intervals')),
    partitions,
    replicas,
    devices: decodeDevices(section('devices'), manifest.deviceCount),
    table: decodeAssignments(section('assignments'), manifest),
    moves: decodeMoves(section('moves')),
    minVersions: decodeRuns(section('minVersions'), partitions),
    nextAssignment: manifest.nextAssignment,
    ...decodeReshape(manifest, () => section('reshape')),
  };
  const extraSections = [...sections]
    .filter(([name]) => !ownSections.includes(name))
    .map(([name, content]) => ({ name, bytes: content }));
  const builder = sections.get('builder') ?? null;
  return { ring, id, builder, extraSections, signatures, signing: manifest.signing ?? null };
}

function manifestOf(ring: Ring, sections: readonly Section[]): Manifest {
  const { keyspace, cluster, version, parent, ancestors, partitions, replicas } = ring;
  return {
    keyspace,
    cluster,
    version,
    parent,
    ...(ancestors && { ancestors: [...ancestors] }),
    partitioner: partitionerSettings(ring.partitioner),
    partitions,
    replicas,
    deviceCount: ring.devices.length,
    deviceIdBytes: deviceIdBytes(ring.devices.length),
    nextAssignment: ring.nextAssignment,
    ...(ring.reshape && {
      reshape: {
        kind: ring.reshape.kind,
        partitioner: partitionerSettings(ring.reshape.partitioner),
      },
    }),
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
  const expected = formatOf(manifest);
  if (format !== expected) throw fileInvalid('format', format, expected);
  const fileBytes = manifest.sections.reduce((sum, section) => sum + section.bytes, sectionsAt);
  if (fileBytes > ringFileBytesMax) throw tooLarge('file', fileBytes, ringFileBytesMax);
  return { id, manifest, signatures, sectionsAt, fileBytes };
}

/** Returns the format of a ring's file: programs that know only lower formats refuse it. */
export function ringFormat(ring: Ring): number {
  return formatOf(manifestOf(ring, []));
}

function formatOf({ partitioner, reshape }: Pick<Manifest, 'partitioner' | 'reshape'>): number {
  if (partitioner.kind === 'md5-shift' || partitioner.kind === 'murmur3-mod') return 1;
  if (isRetiring(partitioner) || isRetiring(reshape?.partitioner)) return retireFormat;
  const { partitions, intervals = partitions } = partitioner;
  return reshape !== undefined || intervals !== partitions ? reshapeFormat : intervalFormat;
}

function isRetiring(partitioner: PartitionerSettings | undefined): boolean {
  return partitioner?.kind === 'ranges' && partitioner.retiredBefore !== undefined;
}

function decodeReshape({ reshape }: Manifest, section: () => Buffer): Pick<Ring, 'reshape'> {
  if (reshape === undefined) return {};
  const partitioner = decodeIntervals(reshape.partitioner, section);
  if (isIntervals(partitioner)) return { reshape: { kind: reshape.kind, partitioner } };
  throw fileInvalid('reshape', partitioner.kind, 'intervals');
}

function readSections(bytes: Buffer, manifest: Manifest): Map<string, Buffer> {
  const sections = new Map<string, Buffer>();
  let offset = 0;
  for (const { name, bytes: length, sha256: expected } of manifest.sections) {
    const content = bytes.subarray(offset, offset + length);
    offset += length;
    const found = sha256(content);
    if (found !== expected) throw fileInvalid(`SHA-256 of section ${name}`, found, expected);
    if (sections.has(name)) throw fileInvalid(`section ${name}`, 'present twice', 'present once');
    sections.set(name, content);
  }
  return sections;
}
