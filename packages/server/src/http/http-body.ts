// Reads a request body into memory, and refuses it before it takes more memory than its limit.
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { valueBytesMax } from '@ringwright/base/limits';
import { httpBodiesBytesMax } from '@ringwright/base/limits-listeners';
import { affordableBytes, ByteBudget, type HeldBytes } from '../access/byte-budget.ts';

interface BodyLimit {
  readonly bytesMax: number;
  /** Returns the error for a body of at least so many bytes. */
  readonly refuse: (bytes: number) => CodedError;
}

/**
 * Throws VALUE_TOO_LARGE, or the error of `limit`, once the length is known to exceed the limit.
 */
export async function readBody(
  request: IncomingMessage,
  limit: BodyLimit = { bytesMax: valueBytesMax, refuse: tooLarge },
): Promise<Uint8Array> {
  const held = heldBy(request);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit.bytesMax) throw limit.refuse(announced);
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving this loop early must not destroy the stream: the refusal travels over its socket.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const data = chunk as Buffer; // no encoding is set on the request: chunks are buffers
    bytes += data.length;
    if (bytes > limit.bytesMax) throw limit.refuse(bytes);
    held.hold(bytes);
    chunks.push(data);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Shared by all listeners of this process. */
const bodies = new ByteBudget(affordableBytes(httpBodiesBytesMax));

/** Counts the bytes of the body until it is complete, or its connection gone. */
function heldBy(request: IncomingMessage): HeldBytes {
  const held = bodies.connection(() => request.socket.destroy());
  request.once('close', () => held.leave());
  return held;
}

/** How long the rest of a refused body is read: a close while the client sends hides the answer. */
const REFUSED_BODY_MS_MAX = 2_000;

/** Resolves when the rest of the body has been read, or after REFUSED_BODY_MS_MAX. */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  request.resume();
  const signal = AbortSignal.timeout(REFUSED_BODY_MS_MAX);
  await finished(request, { signal }).catch(() => undefined);
}

function tooLarge(bytes: number): CodedError {
  const message = `a value of at least ${bytes} bytes; the maximum is ${valueBytesMax}`;
  const hint = 'split the value over several keys';
  return new CodedError('VALUE_TOO_LARGE', message, {
    hint,
    details: { bytes, max: valueBytesMax },
  });
}
