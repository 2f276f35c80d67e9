// A delta between two ring files: what a holder of the base needs to build the new file. Pure.
// Layout: magic, id of the base, id of the new ring, SHA-256 of the new file, length of the body;
// then the deflated body: the new file's head unchanged, and for each section how to build it. The
// base's signatures play no part, because its id covers the sections.

import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { asBuffer } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import { ringDeltaBytesMax } from '@ringwright/base/limits';
import { diffBytes, patchBytes } from './byte-patch.ts';
import { splitRingFile } from './ring-container.ts';
import { readManifestHead } from './ring-file.ts';
import { decodeManifest } from './ring-manifest.ts';

const magic = Buffer.from('RWD\x01', 'latin1');
const digestBytes = 32;
const baseAt = magic.length;
const idAt = baseAt + digestBytes;
const fileDigestAt = idAt + digestBytes;
const bodyBytesAt = fileDigestAt + digestBytes;
const bodyAt = bodyBytesAt + 4;

/** How a section is built: copied from the base, included whole, or included as a patch. */
const [same, whole, patched] = [0, 1, 2];

/**
 * Returns the delta that turns `base` into `file`, both whole ring files. Returns null when it
 * would unpack to more than `ringDeltaBytesMax` or take more than half of the file.
 */
export function makeRingDelta(base: Uint8Array, file: Uint8Array): Buffer | null {
  const [from, to] = [sectionsOf(base), sectionsOf(file)];
  const head = Buffer.from(file.buffer, file.byteOffset, to.sectionsAt);
  const parts = [word(head.length), head];
  for (const [name, after] of to.sections)
    parts.push(...sectionParts(from.sections.get(name), after));
  const bodyBytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bodyBytes > ringDeltaBytesMax) return null;
  const ids = [from.id, to.id].map((id) => Buffer.from(id, 'hex'));
  const body = deflateRawSync(Buffer.concat(parts), { level: 9 });
  const delta = Buffer.concat([magic, ...ids, digestOf(file), word(bodyBytes), body]);
  const isTooLarge = delta.length > ringDeltaBytesMax || delta.length * 2 > file.length;
  return isTooLarge ? null : delta;
}

function sectionParts(before: Buffer | undefined, after: Buffer): Buffer[] {
  if (before?.equals(after)) return [Buffer.of(same)];
  const patch = before === undefined ? null : diffBytes(before, after);
  if (patch === null) return [Buffer.of(whole), after];
  const { runs, literals } = patch;
  return [Buffer.of(patched), word(runs.length), word(literals.length), runs, literals];
}

interface DeltaEnds {
  /** Id of the ring that it applies to. */
  readonly base: string;
  /** Id of the ring that it builds. */
  readonly id: string;
}

/** Reads the ids from a delta. Throws RING_DELTA_INVALID. */
export function deltaEnds(bytes: Uint8Array): DeltaEnds {
  const delta = asBuffer(bytes);
  if (delta.length < bodyAt || !delta.subarray(0, baseAt).equals(magic)) {
    throw invalid('it does not begin like a delta');
  }
  return {
    base: delta.toString('hex', baseAt, idAt),
    id: delta.toString('hex', idAt, fileDigestAt),
  };
}

/**
 * Returns exactly the bytes of the file that the delta was made for. Checks every length before it
 * allocates memory. Throws RING_DELTA_INVALID, also when `base` is another ring.
 */
export function applyRingDelta(base: Uint8Array, bytes: Uint8Array): Buffer {
  const delta = asBuffer(bytes);
  const ends = deltaEnds(delta);
  const from = sectionsOf(base);
  if (from.id !== ends.base) throw invalid(`it is for ring ${ends.base}, not for ${from.id}`);
  const body = new BodyReader(inflate(delta));
  const head = body.take(body.word());
  const { id, fileBytes, sections } = headOf(head);
  if (id !== ends.id) throw invalid(`it makes ring ${id} instead of ${ends.id}`);
  // Each byte of the file comes from the base or from the body.
  if (fileBytes > base.length + body.length)
    throw invalid(`it makes ${fileBytes} bytes from fewer`);
  const contents = sections.map(({ name, bytes }) => {
    return makeSection(body, from.sections.get(name), bytes);
  });
  if (body.left > 0) throw invalid(`${body.left} bytes follow the last section`);
  const file = Buffer.concat([head, ...contents]);
  if (!digestOf(file).equals(delta.subarray(fileDigestAt, bodyBytesAt))) {
    throw invalid('the SHA-256 of its result is wrong');
  }
  return file;
}

function makeSection(body: BodyReader, before: Buffer | undefined, bytes: number): Buffer {
  const [kind] = body.take(1);
  if (kind === whole) return body.take(bytes);
  if (before === undefined) throw invalid('the base lacks a section');
  if (kind === same) return before;
  if (kind !== patched) throw invalid(`a section has unknown kind ${kind}`);
  const [runBytes, literalBytes] = [body.word(), body.word()];
  const patch = { runs: body.take(runBytes), literals: body.take(literalBytes) };
  if (bytes > before.length + literalBytes) throw invalid('a patch makes bytes from nothing');
  const section = patchBytes(before, patch, bytes);
  if (section === null) throw invalid('a patch does not fit its section');
  return section;
}

/** The body of a delta, read once from its front. */
class BodyReader {
  readonly length: number;
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.length = bytes.length;
  }

  get left(): number {
    return this.length - this.#offset;
  }

  take(bytes: number): Buffer {
    if (bytes > this.left) throw invalid(`${bytes} bytes expected, but ${this.left} are left`);
    this.#offset += bytes;
    return this.#bytes.subarray(this.#offset - bytes, this.#offset);
  }

  word(): number {
    return this.take(4).readUInt32BE();
  }
}

function inflate(delta: Buffer): Buffer {
  const bodyBytes = delta.readUInt32BE(bodyBytesAt);
  if (bodyBytes === 0 || bodyBytes > ringDeltaBytesMax) {
    throw invalid(`the body has ${bodyBytes} bytes, 1 to ${ringDeltaBytesMax} are allowed`);
  }
  const deflated = delta.subarray(bodyAt);
  try {
    const body = inflateRawSync(deflated, { maxOutputLength: bodyBytes });
    if (body.length === bodyBytes) return body;
  } catch (cause) {
    throw invalid('its body cannot be decompressed', cause);
  }
  throw invalid('its body is shorter than declared');
}

function headOf(head: Buffer) {
  try {
    const { id, fileBytes } = readManifestHead(head);
    const { manifest, sectionsAt } = splitRingFile(head);
    if (sectionsAt !== head.length) throw invalid('bytes follow the manifest');
    return { id, fileBytes, sections: decodeManifest(manifest).sections };
  } catch (cause) {
    if (!(cause instanceof CodedError) || cause.code === 'RING_DELTA_INVALID') throw cause;
    throw invalid(cause.message, cause);
  }
}

function sectionsOf(bytes: Uint8Array) {
  const file = asBuffer(bytes);
  const { id, manifest, sectionsAt } = splitRingFile(file);
  const sections = new Map<string, Buffer>();
  let at = sectionsAt;
  for (const { name, bytes } of decodeManifest(manifest).sections) {
    sections.set(name, file.subarray(at, at + bytes));
    at += bytes;
  }
  return { id, sectionsAt, sections };
}

function word(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function invalid(reason: string, cause?: unknown): CodedError {
  return new CodedError('RING_DELTA_INVALID', `ring delta: ${reason}`, {
    hint: 'the server also accepts the whole file',
    ...(cause === undefined ? {} : { cause }),
  });
}
