// Copies a partition file in chunks over the connection of all calls, from a source whose helper
// process is missing or cannot be reached.
import { setTimeout } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { hasCode } from '@ringwright/base/coded-error';
import { freeBytes } from '@ringwright/base/free-bytes';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import {
  copyChunksAhead,
  copyIdleMsMax,
  copyOpenTimeoutMs,
  copyReadWaitMsMax,
} from '@ringwright/base/limits-copies';
import { copyOpen, copyRead } from '@ringwright/wire/copies';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { DeviceCaller, DeviceTarget } from '../peers/device-caller.ts';
import {
  type CopyPorts,
  type CopyResult,
  type CopyTask,
  cutOff,
  isCut,
  marksMaxOf,
  release,
  retryAfterMs,
} from './copy-task.ts';
import type { ChunkedCopy } from './partial-copies.ts';

/**
 * `kept`: what an interrupted copy has received; null: begins anew. Throws what the source and
 * `finish` throw, and COPY_CUT if the copy may be resumed.
 */
export async function copyInChunks(
  ports: CopyPorts,
  task: CopyTask,
  kept: ChunkedCopy | null,
): Promise<CopyResult> {
  const partial = kept ?? (await beginCopy(ports, task));
  const { incoming, manifest, copy } = partial;
  const from = incoming.received;
  const to = { active: task.active, device: task.source };
  try {
    const writes: Promise<void>[] = [];
    for await (const data of readChunks(ports, { ...task, copy, from, bytes: manifest.bytes })) {
      // Further chunks are checked while these are written.
      if (writes.length >= copyChunksAhead) await writes.shift();
      const written = incoming.write(incoming.received, data).then(() => freeBytes(data));
      written.catch(() => undefined); // reported when its turn comes, or by finish()
      writes.push(written);
      task.onBytes(incoming.received, manifest.bytes);
    }
    task.onReceived();
  } catch (error) {
    if (isCut(error)) {
      await ports.partial.keep(partial);
      throw incoming.received > from ? cutOff(partial, manifest.bytes, error) : error;
    }
    await incoming.discard();
    await release(ports.devices, to, copy);
    throw error;
  }
  // The source need not keep what is here: a copy that turns out wrong starts over.
  const released = release(ports.devices, to, copy);
  try {
    await incoming.finish();
  } finally {
    await released;
  }
  const { sourceIncarnation: incarnation, seq, digest, bytes, rows } = manifest;
  return { incarnation, seq, digest, bytes, rows };
}

async function beginCopy(ports: CopyPorts, task: CopyTask): Promise<ChunkedCopy> {
  const { devices, store } = ports;
  const { active, partition, assignment, source } = task;
  const { keyspace, version: ringVersion } = active.ring;
  const to = { active, device: source };
  const device = must(active.self, 'a device outside the ring loads nothing');
  const request = { keyspace, ringVersion, partition, assignment, device };
  const timeoutMs = copyOpenTimeoutMs;
  const { copy, ...description } = await devices.call({ ...to, timeoutMs }, copyOpen, request);
  try {
    const manifest = { keyspace, partition, ...description, marksMax: marksMaxOf(ports, task) };
    const incoming = await store.receiveCopy(keyspace, partition, manifest);
    return { kind: 'chunks', keyspace, partition, assignment, source, copy, manifest, incoming };
  } catch (error) {
    await release(devices, to, copy);
    throw error;
  }
}

interface Chunks extends CopyTask {
  readonly copy: string;
  /** Bytes that are here already. */
  readonly from: number;
  readonly bytes: number;
}

/** Yields the chunks in order. Asks for a few ahead, so that the round trip costs nothing. */
async function* readChunks(
  { devices, throttle }: CopyPorts,
  { active, source, copy, from, bytes }: Chunks,
): AsyncGenerator<Uint8Array> {
  const ahead: Promise<{ data: Uint8Array }>[] = [];
  const ask = (offset: number): void => {
    const length = Math.min(transferChunkBytesMax, bytes - offset);
    const pendingChunk = throttle
      .pass(length)
      .then(() => readPatiently(devices, { active, device: source }, { copy, offset, length }));
    pendingChunk.catch(() => undefined); // reported when its turn comes
    ahead.push(pendingChunk);
  };
  let requested = from;
  for (let yielded = from; yielded < bytes; ) {
    for (; ahead.length < copyChunksAhead && requested < bytes; requested += transferChunkBytesMax)
      ask(requested);
    const chunk = await ahead.shift();
    // A short chunk makes the total short, and finish() then refuses the copy by its length.
    if (chunk === undefined || chunk.data.length === 0) return;
    yielded += chunk.data.length;
    yield chunk.data;
  }
}

/**
 * Reads a chunk. A source that must keep to its rate says when to ask for the same bytes again. On
 * a slow line a chunk waits behind the chunks requested before it, at most for as long as the
 * source keeps the copy. If the connection is gone, its pings fail earlier.
 */
async function readPatiently(
  devices: DeviceCaller,
  to: DeviceTarget,
  request: RequestOf<typeof copyRead>,
): Promise<AnswerOf<typeof copyRead>> {
  for (;;) {
    try {
      return await devices.call({ ...to, timeoutMs: copyIdleMsMax }, copyRead, request);
    } catch (error) {
      if (!hasCode(error, 'COPY_BUSY')) throw error;
      const pauseMs = retryAfterMs(error, copyReadWaitMsMax);
      await setTimeout(Math.min(pauseMs, copyIdleMsMax / 2));
    }
  }
}
