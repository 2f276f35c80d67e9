// Brings a whole partition file from another device: snapshot there; chunks, verification and
// adoption here.
import { setTimeout } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import { freeBytes } from '@ringwright/base/free-bytes';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import {
  copyChunksAhead,
  copyIdleMsMax,
  copyOpenTimeoutMs,
  copyReadWaitMsMax,
} from '@ringwright/base/limits-copies';
import type { Store } from '@ringwright/partition/store';
import { copyClose, copyOpen, copyRead } from '@ringwright/wire/copies';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { DeviceCaller, DeviceTarget } from '../peers/device-caller.ts';
import { retryAfterMs } from '../peers/retry-after.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { CopyThrottle } from './copy-throttle.ts';
import type { BegunCopy, PartialCopies } from './partial-copies.ts';

interface CopyPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
  readonly throttle: CopyThrottle;
  readonly partial: PartialCopies;
}

export interface CopyTask {
  readonly active: ActiveRing;
  readonly partition: number;
  readonly assignment: number | null;
  readonly source: number;
  readonly onBytes: (done: number, total: number) => void;
  /** All bytes are here. */
  readonly onReceived: () => void;
}

export interface CopyResult {
  /** Incarnation of the source's file, and the sequence up to which the copy holds it. */
  readonly incarnation: string;
  readonly seq: number;
  readonly digest: string;
  readonly bytes: number;
  readonly rows: number;
}

/**
 * After it resolves the file here holds the copy, merged with what was written here meanwhile. A
 * connection that breaks leaves what has come for the next attempt, which goes on with it if the
 * source still has the snapshot. Throws COPY_CUT when some came before it broke, and what the
 * source and `finish` throw.
 */
export async function copyPartition(ports: CopyPorts, task: CopyTask): Promise<CopyResult> {
  const { partition, assignment, source } = task;
  const { keyspace } = task.active.ring;
  const kept = await ports.partial.take({ keyspace, partition, assignment, source });
  if (kept !== null) {
    try {
      return await receive(ports, task, kept);
    } catch (error) {
      // The source was restarted, or waited in vain: its snapshot is gone, so it begins anew.
      if (!(error instanceof CodedError) || error.code !== 'MOVE_UNKNOWN') throw error;
    }
  }
  return receive(ports, task, await beginCopy(ports, task));
}

async function beginCopy(
  { devices, store }: CopyPorts,
  { active, partition, assignment, source }: CopyTask,
): Promise<BegunCopy> {
  const { keyspace, version: ringVersion } = active.ring;
  const to = { active, device: source };
  const device = must(active.self, 'a device outside the ring loads nothing');
  const asked = { keyspace, ringVersion, partition, assignment, device };
  const timeoutMs = copyOpenTimeoutMs;
  const { copy, ...about } = await devices.call({ ...to, timeoutMs }, copyOpen, asked);
  const manifest = { keyspace, partition, ...about };
  try {
    const incoming = await store.receiveCopy(keyspace, partition, manifest);
    return { keyspace, partition, assignment, source, copy, manifest, incoming };
  } catch (error) {
    await release(devices, to, copy);
    throw error;
  }
}

async function receive(ports: CopyPorts, task: CopyTask, begun: BegunCopy): Promise<CopyResult> {
  const { incoming, manifest, copy } = begun;
  const from = incoming.received;
  const to = { active: task.active, device: task.source };
  try {
    const writes: Promise<void>[] = [];
    for await (const data of readChunks(ports, { ...task, copy, from, bytes: manifest.bytes })) {
      // The next ones are checked while these are written.
      if (writes.length >= copyChunksAhead) await writes.shift();
      const written = incoming.write(incoming.received, data).then(() => freeBytes(data));
      written.catch(() => undefined); // reported when its turn comes, or by finish()
      writes.push(written);
      task.onBytes(incoming.received, manifest.bytes);
    }
    task.onReceived();
  } catch (error) {
    if (isCut(error)) {
      await ports.partial.keep(begun);
      throw incoming.received > from ? cutOff(begun, error) : error;
    }
    await incoming.discard();
    await release(ports.devices, to, copy);
    throw error;
  }
  // The source need not keep what is here: a copy that turns out wrong begins anew.
  const released = release(ports.devices, to, copy);
  try {
    await incoming.finish();
  } finally {
    await released;
  }
  const { sourceIncarnation: incarnation, seq, digest, bytes, rows } = manifest;
  return { incarnation, seq, digest, bytes, rows };
}

/** The source releases an idle copy by itself if this does not arrive. */
async function release(devices: DeviceCaller, to: DeviceTarget, copy: string): Promise<void> {
  await Promise.resolve(devices.call(to, copyClose, { copy })).catch(() => undefined);
}

/** What came is good: PEER_FAILED says that the source gave something else than was asked for. */
function isCut(error: unknown): error is CodedError {
  if (!(error instanceof CodedError)) return false;
  return isPeerCode(error.code) && error.code !== 'PEER_FAILED';
}

function cutOff({ incoming, manifest, source }: BegunCopy, cause: CodedError): CodedError {
  const done = `${incoming.received} of ${manifest.bytes} bytes`;
  const message = `the copy from d${source} was cut off after ${done}: ${cause.message}`;
  return new CodedError('COPY_CUT', message, { hint: 'it goes on from there by itself', cause });
}

interface Chunks extends CopyTask {
  readonly copy: string;
  /** Bytes that are here already. */
  readonly from: number;
  readonly bytes: number;
}

/** The chunks in order, a few asked for ahead so that the round trip costs nothing. */
async function* readChunks(
  { devices, throttle }: CopyPorts,
  { active, source, copy, from, bytes }: Chunks,
): AsyncGenerator<Uint8Array> {
  const ahead: Promise<{ data: Uint8Array }>[] = [];
  const ask = (offset: number): void => {
    const length = Math.min(transferChunkBytesMax, bytes - offset);
    const asked = throttle
      .pass(length)
      .then(() => readPatiently(devices, { active, device: source }, { copy, offset, length }));
    asked.catch(() => undefined); // reported when its turn comes
    ahead.push(asked);
  };
  let asked = from;
  for (let given = from; given < bytes; ) {
    for (; ahead.length < copyChunksAhead && asked < bytes; asked += transferChunkBytesMax)
      ask(asked);
    const chunk = await ahead.shift();
    // A short chunk leaves the total short: finish() then refuses the copy by its length.
    if (chunk === undefined || chunk.data.length === 0) return;
    given += chunk.data.length;
    yield chunk.data;
  }
}

/** A source that must keep to its rate says when to ask for the same bytes again. */
async function readPatiently(
  devices: DeviceCaller,
  to: DeviceTarget,
  request: RequestOf<typeof copyRead>,
): Promise<AnswerOf<typeof copyRead>> {
  for (;;) {
    try {
      return await devices.call(to, copyRead, request);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code !== 'COPY_BUSY') throw error;
      const pauseMs = retryAfterMs(error, copyReadWaitMsMax);
      await setTimeout(Math.min(pauseMs, copyIdleMsMax / 2));
    }
  }
}
