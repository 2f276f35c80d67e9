// Completes a removal: removed devices whose servers hold no files become holes. Neither the commit
// of the removal nor the last finalize does this: a server that the ring does not name has no
// duties, so it would neither serve as a source nor drop its files. The hole is made only after all
// removed servers have drained. A server that cannot be reached is taken for gone.

import { formatAddress } from '@ringwright/base/server-address';
import { dropEmptyDevices } from '@ringwright/builder/state/drop-empty-devices';
import { type StoredVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { proposeMoves } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Context } from '../../cli/command.ts';
import { advanceHead } from '../../versions/advance-head.ts';

/**
 * Commits a version that changes only devices. Returns false if no device leaves. `silent`:
 * addresses of unreachable servers, which may still have files.
 */
export async function dropGoneDevices(
  context: Context,
  head: StoredVersion,
  silent: readonly string[],
): Promise<boolean> {
  const before = stateOf(head);
  const state = dropEmptyDevices(before, head.ring);
  const gone = before.devices.filter((device, id) => device !== null && state.devices[id] === null);
  if (gone.length === 0) return false;
  const names = gone.map((device) => `d${device?.id}`).join(', ');
  const devices = head.ring.devices.map((device, id) =>
    state.devices[id] === null ? null : device,
  );
  const { keyspace } = head.ring;
  const leave =
    gone.length === 1 ? 'has no slot any more and leaves' : 'have no slots any more and leave';
  context.tell(`${keyspace}: ${names} ${leave} the ring`);
  for (const address of silent) context.tell(returnLine(context, head.ring, address));
  await advanceHead(context, head, {
    next: proposeMoves(head.ring, head.id, { moves: [], devices }),
    message: `${names} left the ring`,
    state,
  });
  return true;
}

/**
 * What to type if the server returns with files. The ring then no longer names its key, so the
 * command has to say what the server proves.
 */
export function returnLine(
  context: Pick<Context, 'next'>,
  { keyspace, devices }: Pick<Ring, 'keyspace' | 'devices'>,
  address: string,
): string {
  const letGo = context.next(`trash ${keyspace} confirm --to ${address}`);
  const line = `if ${address} returns with files, confirm that it may drop them: ${letGo}`;
  const server = devices.find((one) => one !== null && formatAddress(one) === address);
  if (!server?.key || / --(ca|fingerprint) /.test(letGo)) return line;
  const own = `with --tls own add --fingerprint ${keyIdOf(server.key)}`;
  return `${line} (with --tls FILE add --ca FILE, ${own})`;
}
