// Brings a whole partition file from another device: snapshot there, chunks, verification and
// adoption here.
import { setTimeout } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
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
import type { ActiveRing } from './active-ring.ts';
import type { CopyThrottle } from './copy-throttle.ts';
import type { DeviceCaller, DeviceTarget } from './device-caller.ts';

interface CopyPorts {
  readonly store: Store;
  readonly devices: DeviceCaller;
  readonly throttle: CopyThrottle;
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

/** After it resolves the file here holds the copy, merged with what was written here meanwhile. */
export async function copyPartition(ports: CopyPorts, task: CopyTask): Promise<CopyResult> {
  const { active, partition, assignment, source } = task;
  const { keyspace, version } = active.ring;
  const about = { keyspace, ringVersion: version, partition };
  const slow = { active, device: source, timeoutMs: copyOpenTimeoutMs };
  const device = must(active.self, 'a device outside the ring loads nothing');
  const opened = await ports.devices.call(slow, copyOpen, { ...about, assignment, device });
  const { copy, ...manifest } = opened;
  try {
    const incoming = await ports.store.receiveCopy(keyspace, partition, {
      keyspace,
      partition,
      ...manifest,
    });
    try {
      let received = 0;
      for await (const data of readChunks(ports, {
        ...task,
        copy,
        bytes: manifest.bytes,
      })) {
        await incoming.write(received, data);
        received += data.length;
        task.onBytes(received, manifest.bytes);
      }
      task.onReceived();
      await incoming.finish();
    } catch (error) {
      await incoming.discard();
      throw error;
    }
  } finally {
    // The source releases an idle copy by itself if this does not arrive.
    await ports.devices
      .call({ active, device: source }, copyClose, { copy })
      .catch(() => undefined);
  }
  const { sourceIncarnation: incarnation, seq, digest, bytes, rows } = manifest;
  return { incarnation, seq, digest, bytes, rows };
}

/** The chunks in order, a few asked for ahead so that the round trip costs nothing. */
async function* readChunks(
  { devices, throttle }: CopyPorts,
  { active, source, copy, bytes }: CopyTask & { readonly copy: string; readonly bytes: number },
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
  let asked = 0;
  for (let given = 0; given < bytes; ) {
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
      const pauseMs = Number(error.details.retryAfterMs) || copyReadWaitMsMax;
      await setTimeout(Math.min(pauseMs, copyIdleMsMax / 2));
    }
  }
}
