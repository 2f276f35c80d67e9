// Brings a whole partition from another device. The process beside the store fetches its file from
// the one at the source, or it comes in chunks; a small one comes packed, and its file is made
// here.
import { must } from '@ringwright/base/assert';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import { checkMarks } from '@ringwright/partition/copy/copy-manifest';
import { addressFor } from '@ringwright/ring/device';
import { copyChecksum, copyGoOn, copyStart } from '@ringwright/wire/copies';
import type { AnswerOf } from '@ringwright/wire/message';
import { copyInChunks } from './copy-in-chunks.ts';
import {
  type CopyPorts,
  type CopyResult,
  type CopyTask,
  cutOff,
  isCut,
  marksMaxOf,
  release,
} from './copy-task.ts';
import type { BegunCopy, FetchedCopy } from './partial-copies.ts';

type Offer = AnswerOf<typeof copyStart>;

/**
 * After it resolves, the file here holds the copy, merged with what was written here meanwhile. If
 * the connection breaks, what has come is kept for the next attempt, which resumes the copy if the
 * source still has it. Throws COPY_CUT if some bytes came before the break, and what the source and
 * `finish` throw.
 */
export async function copyPartition(ports: CopyPorts, task: CopyTask): Promise<CopyResult> {
  const { partition, assignment, source } = task;
  const { keyspace } = task.active.ring;
  const partial = await ports.partial.take({ keyspace, partition, assignment, source });
  if (partial !== null) {
    try {
      const copied = await goOn(ports, task, partial);
      if (copied !== null) return copied;
    } catch (error) {
      // The source was restarted, or released the idle copy: the copy starts over.
      if (!hasCode(error, 'MOVE_UNKNOWN')) throw error;
    }
  }
  const offer = await askForCopy(ports, task);
  if (offer === null) return copyInChunks(ports, task, null);
  if ('records' in offer) return takePacked(ports, task, offer);
  const fetched = await beginFetch(ports, task, offer);
  return (await fetchCopy(ports, task, fetched)) ?? copyInChunks(ports, task, null);
}

async function goOn(
  ports: CopyPorts,
  task: CopyTask,
  partial: BegunCopy,
): Promise<CopyResult | null> {
  if (partial.kind === 'chunks') return copyInChunks(ports, task, partial);
  return fetchCopy(ports, task, await reopen(ports, task, partial));
}

/**
 * Errors after which the copy comes in chunks: the source has no helper process for copies, or runs
 * an older release, or does and the partition is empty.
 */
const comesInChunks: readonly string[] = ['USAGE', 'WIRE_VERSION_UNKNOWN', 'COPY_NEEDLESS'];

/** Returns null for a copy that must come in chunks. */
async function askForCopy(
  { devices }: CopyPorts,
  { active, partition, assignment, source }: CopyTask,
): Promise<Offer | null> {
  const { keyspace, version: ringVersion } = active.ring;
  const device = must(active.self, 'a device outside the ring loads nothing');
  const request = { keyspace, ringVersion, partition, assignment, device };
  try {
    return await devices.call({ active, device: source }, copyStart, {
      ...request,
      takesPacked: true,
    });
  } catch (error) {
    if (error instanceof CodedError && comesInChunks.includes(error.code)) return null;
    throw error;
  }
}

/** An empty partition needs no file. A floor is never above the barrier. */
async function takePacked(
  ports: CopyPorts,
  task: CopyTask,
  { hasPromises, ...packed }: Exclude<Offer, OfferedFile>,
): Promise<CopyResult> {
  const { sourceIncarnation: incarnation, seq, digest, rows, barrierMs } = packed;
  const { store, throttle } = ports;
  const { active, partition, onBytes, onReceived } = task;
  const bytes = packed.records.length;
  const packedPartition = { keyspace: active.ring.keyspace, partition, ...packed };
  await checkMarks(marksMaxOf(ports, task), packed);
  await throttle.pass(bytes);
  onBytes(bytes, bytes);
  onReceived();
  if (seq > 0 || barrierMs > 0) {
    await store.copies.unpack(packedPartition);
  }
  return { incarnation, seq, digest, bytes, rows, hasPromises };
}

type OfferedFile = Extract<AnswerOf<typeof copyStart>, { copy: string }>;

/**
 * Has the process beside the store fetch the file from the one at the source. Null when it must
 * come another way: this process does not reach that of the source, or its file was written to
 * while it was read. Throws COPY_CUT when the connection broke: then it may be gone on with.
 */
async function fetchCopy(
  ports: CopyPorts,
  task: CopyTask,
  fetched: FetchedCopy,
): Promise<CopyResult | null> {
  const { incoming, copy, description } = fetched;
  const to = { active: task.active, device: task.source };
  let receivedChecksum: string;
  try {
    receivedChecksum = await incoming.fetch(fetched.endpoint, (received) => {
      ports.throttle.note(received - fetched.noted);
      fetched.noted = received;
      task.onBytes(received, description.bytes);
    });
    ports.throttle.note(description.bytes - fetched.noted);
    task.onBytes(description.bytes, description.bytes);
    task.onReceived();
  } catch (error) {
    if (isCut(error) && incoming.isUsable && incoming.received > 0) {
      await ports.partial.keep(fetched);
      throw cutOff(fetched, description.bytes, error);
    }
    await incoming.discard();
    await release(ports.devices, to, copy);
    if (isCut(error)) {
      const port = formatAddress({ ip: fetched.endpoint.host, port: fetched.endpoint.port });
      task.onDetour(`${port}, which sends files, cannot be reached: a slower way is used`);
      return null;
    }
    throw error;
  }
  // The source keeps the copy until it has sent the checksum. A copy that turns out wrong starts
  // over.
  let checksum: string;
  try {
    ({ checksum } = await ports.devices.call(to, copyChecksum, { copy }));
  } catch (error) {
    await incoming.discard();
    if (hasCode(error, 'COPY_BUSY')) return null;
    throw error;
  }
  await incoming.finish(receivedChecksum, checksum);
  const { sourceIncarnation: incarnation, seq, digest, bytes, rows } = description;
  return { incarnation, seq, digest, bytes, rows };
}

/** Begins a fetch with what the source says about the file that it gives. */
async function beginFetch(
  ports: CopyPorts,
  task: CopyTask,
  offer: OfferedFile,
): Promise<FetchedCopy> {
  const { devices, store } = ports;
  const { active, partition, assignment, source } = task;
  const { keyspace } = active.ring;
  const holder = must(active.ring.devices[source], `no device ${source} in the ring`);
  const { ip: host } = addressFor('replication', holder);
  const { copy, key, port, ticket, cipherKey, ...described } = offer;
  try {
    const description = { keyspace, partition, ...described, marksMax: marksMaxOf(ports, task) };
    const incoming = await store.copies.take(description, key);
    const endpoint = { host, port, ticket, cipherKey };
    const name = { keyspace, partition, assignment, source };
    return { kind: 'fetched', ...name, copy, description, incoming, endpoint, noted: 0 };
  } catch (error) {
    await release(devices, { active, device: source }, copy);
    throw error;
  }
}

/** Asks the source to resume a kept copy. Discards the copy if that fails. */
async function reopen(
  { devices }: CopyPorts,
  { active, source }: CopyTask,
  fetched: FetchedCopy,
): Promise<FetchedCopy> {
  try {
    const request = { copy: fetched.copy, offset: fetched.incoming.received };
    const resumed = await devices.call({ active, device: source }, copyGoOn, request);
    return { ...fetched, endpoint: { host: fetched.endpoint.host, ...resumed } };
  } catch (error) {
    await fetched.incoming.discard();
    throw error;
  }
}
