// The container of a ring on disk and on the wire: a prefix, the envelope with id and signatures,
// the manifest, and sections as bytes. DESIGN.md in this folder has the layout, byte by byte. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import {
  ringEnvelopeBytesMax,
  ringFileBytesMax,
  ringManifestBytesMax,
} from '@ringwright/base/limits';
import { sha256 } from '@ringwright/base/sha256';
import { decodeEnvelope, encodeEnvelope, type RingSignature } from './ring-envelope.ts';
import { fileInvalid, tooLarge } from './ring-file-error.ts';

/** High bit, CR LF, ^Z, LF: the first bytes reveal damage by text-mode copies, as in PNG. */
const magic = Buffer.from('\x89RWR\r\n\x1a\n', 'latin1');
/** For rings whose partitions are intervals: programs that know only format 1 refuse them. */
export const intervalFormat = 2;
/** For rings with a split or merge, now or earlier: older programs would not write to children. */
export const reshapeFormat = 3;
/** For rings with retired ranges: older programs would fill the child with retired records. */
export const retireFormat = 4;
/** All formats that this program reads. */
export const ringFormats = [1, intervalFormat, reshapeFormat, retireFormat];
const prefixBytes = 20;

interface SplitRingFile {
  readonly format: number;
  readonly id: string;
  readonly signatures: readonly RingSignature[];
  /** The manifest's raw bytes, which the signatures cover. Their digest is the id. */
  readonly manifest: Buffer;
  /** Offset of the first section. */
  readonly sectionsAt: number;
}

/**
 * Splits a file into its parts, and parses only the envelope. Throws RING_FILE_INVALID,
 * RING_FORMAT_UNKNOWN, RING_TOO_LARGE.
 */
export function splitRingFile(file: Uint8Array): SplitRingFile {
  const bytes = asBuffer(file);
  if (bytes.length > ringFileBytesMax) throw tooLarge('file', bytes.length, ringFileBytesMax);
  if (bytes.length < prefixBytes) throw fileInvalid('file length', bytes.length, '20 or more');
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    throw fileInvalid('magic', bytes.toString('hex', 0, magic.length), magic.toString('hex'));
  }
  const format = bytes.readUInt32BE(8);
  if (!ringFormats.includes(format)) throw formatUnknown(format);
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
 * Returns the ring with other signatures. Only the envelope changes, not the id. Throws the errors
 * of splitRingFile.
 */
export function withSignatures(file: Uint8Array, signatures: readonly RingSignature[]): Buffer {
  const { format, id, manifest, sectionsAt } = splitRingFile(file);
  const sections = [asBuffer(file).subarray(sectionsAt)];
  return joinRingFile({ format, envelope: encodeEnvelope(id, signatures), manifest, sections });
}

export function joinRingFile({
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

function formatUnknown(format: number): CodedError {
  return new CodedError(
    'RING_FORMAT_UNKNOWN',
    `ring file has format ${format}, this program reads formats ${ringFormats.join(', ')}`,
    { hint: 'use a newer version of this program', details: { format, known: ringFormats } },
  );
}
