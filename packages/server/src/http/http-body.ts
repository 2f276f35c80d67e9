// A request body as bytes, refused before more memory is taken than a value may have.
import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { valueBytesMax } from '@ringwright/base/limits';
import { httpBodiesBytesMax } from '@ringwright/base/limits-listeners';
import { ByteBudget, type HeldBytes } from '../access/byte-budget.ts';

interface BodyLimit {
  readonly bytesMax: number;
  /** The error for a body of at least so many bytes. */
  readonly refuse: (bytes: number) => CodedError;
}

/** Throws VALUE_TOO_LARGE, or what `limit` says, once the length is known to be over the limit. */
export async function readBody(
  request: IncomingMessage,
  limit: BodyLimit = { bytesMax: valueBytesMax, refuse: tooLarge },
): Promise<Uint8Array> {
  const held = heldBy(request);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit.bytesMax) throw limit.refuse(announced);
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The stream stays whole when this loop ends early: the refusal has to travel over its socket.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const data = chunk as Buffer; // no encoding is set on the request: chunks are buffers
    bytes += data.length;
    if (bytes > limit.bytesMax) throw limit.refuse(bytes);
    held.hold(bytes);
    chunks.push(data);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Of all listeners of this process. */
const bodies = new ByteBudget(httpBodiesBytesMax);

/** Until the connection has its answer, or is gone. */
function heldBy(request: IncomingMessage): HeldBytes {
  const held = bodies.connection(() => request.socket.destroy());
  request.once('close', () => held.leave());
  return held;
}

/** A refused body is read on for so long: closing under a client that sends hides the answer. */
const REFUSED_BODY_MS_MAX = 2_000;

/** Resolves when nothing more of the body comes, or not soon. */
export async function discardBody(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  request.resume();
  const signal = AbortSignal.timeout(REFUSED_BODY_MS_MAX);
  await finished(request, { signal }).catch(() => undefined);
}

function tooLarge(bytes: number): CodedError {
  const message = `a value of at least ${bytes} bytes, ${valueBytesMax} is the most`;
  const hint = 'split the value over several keys';
  return new CodedError('VALUE_TOO_LARGE', message, {
    hint,
    details: { bytes, max: valueBytesMax },
  });
}
