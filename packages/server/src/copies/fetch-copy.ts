// Lets the helper process beside the store fetch a partition file from the one at the source.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import { addressFor } from '@ringwright/ring/device';
import { copyChecksum, copyGoOn, type copyStart } from '@ringwright/wire/copies';
import type { AnswerOf } from '@ringwright/wire/message';
import {
  type CopyPorts,
  type CopyResult,
  type CopyTask,
  cutOff,
  isCut,
  release,
} from './copy-task.ts';
import type { FetchedCopy } from './partial-copies.ts';

export type OfferedFile = Extract<AnswerOf<typeof copyStart>, { copy: string }>;

/**
 * Returns null if the file must come another way: this helper process does not reach that of the
 * source, or the file was written to while it was read. Throws COPY_CUT if the connection broke and
 * the copy may be resumed.
 */
export async function fetchCopy(
  ports: CopyPorts,
  task: CopyTask,
  begun: FetchedCopy,
): Promise<CopyResult | null> {
  const { incoming, copy, about } = begun;
  const to = { active: task.active, device: task.source };
  let found: string;
  try {
    found = await incoming.fetch(begun.gate, (received) => {
      ports.throttle.note(received - begun.noted);
      begun.noted = received;
      task.onBytes(received, about.bytes);
    });
    ports.throttle.note(about.bytes - begun.noted);
    task.onBytes(about.bytes, about.bytes);
    task.onReceived();
  } catch (error) {
    if (isCut(error) && incoming.isUsable && incoming.received > 0) {
      await ports.partial.keep(begun);
      throw cutOff(begun, about.bytes, error);
    }
    await incoming.discard();
    await release(ports.devices, to, copy);
    if (isCut(error)) {
      const port = formatAddress({ ip: begun.gate.host, port: begun.gate.port });
      task.onDetour(`${port}, which gives files, cannot be reached: it comes more slowly`);
      return null;
    }
    throw error;
  }
  return finish(ports, task, { begun, found });
}

/**
 * The source keeps the copy until it has sent the checksum. A copy that turns out wrong starts
 * over.
 */
async function finish(
  { devices }: CopyPorts,
  { active, source }: CopyTask,
  { begun, found }: { readonly begun: FetchedCopy; readonly found: string },
): Promise<CopyResult | null> {
  const { incoming, copy, about } = begun;
  let checksum: string;
  try {
    ({ checksum } = await devices.call({ active, device: source }, copyChecksum, { copy }));
  } catch (error) {
    await incoming.discard();
    if (error instanceof CodedError && error.code === 'COPY_BUSY') return null;
    throw error;
  }
  await incoming.finish(found, checksum);
  const { sourceIncarnation: incarnation, seq, digest, bytes, rows } = about;
  return { incarnation, seq, digest, bytes, rows };
}

/** Begins a fetch with what the source says about the file that it gives. */
export async function beginFetch(
  { devices, store }: CopyPorts,
  { active, partition, assignment, source }: CopyTask,
  offer: OfferedFile,
): Promise<FetchedCopy> {
  const { keyspace } = active.ring;
  const holder = must(active.ring.devices[source], `no device ${source} in the ring`);
  const { ip: host } = addressFor('replication', holder);
  const { copy, key, port, ticket, cipherKey, ...described } = offer;
  const about = { keyspace, partition, ...described };
  try {
    const incoming = await store.copies.take(about, key);
    const gate = { host, port, ticket, cipherKey };
    const name = { keyspace, partition, assignment, source };
    return { kind: 'fetched', ...name, copy, about, incoming, gate, noted: 0 };
  } catch (error) {
    await release(devices, { active, device: source }, copy);
    throw error;
  }
}

/** Asks the source to resume a kept copy. Discards the copy if that fails. */
export async function reopen(
  { devices }: CopyPorts,
  { active, source }: CopyTask,
  kept: FetchedCopy,
): Promise<FetchedCopy> {
  try {
    const asked = { copy: kept.copy, offset: kept.incoming.received };
    const door = await devices.call({ active, device: source }, copyGoOn, asked);
    return { ...kept, gate: { host: kept.gate.host, ...door } };
  } catch (error) {
    await kept.incoming.discard();
    throw error;
  }
}
