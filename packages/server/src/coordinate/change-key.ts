// Changes a key depending on its present record. No other write comes between the record that was
// read and the record that is written.
import { byteText } from '@ringwright/base/as-buffer';
import { withDetails } from '@ringwright/base/coded-error';
import type { WireContent } from '../replica/wire-record.ts';
import { checkSession } from './check-session.ts';
import { coordinateRead, type KeyRequest } from './coordinate.ts';
import { type ChangeFunction, type Decided, propose } from './propose.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

type Changed = Decided | { readonly record: WireContent | null; readonly isChanged: false };

/**
 * Calls `change` with the record that a read finds, and then with the one that each round finds. So
 * a change that is not wanted costs one read. Throws what propose throws.
 */
export function changeKey(
  ports: CoordinatorPorts,
  { keyspace, key, session }: Omit<KeyRequest, 'consistency'>,
  change: ChangeFunction,
): Promise<Changed> {
  return ports.mutex.run(`${keyspace}/${byteText(key)}`, async () => {
    if (session) checkSession(ports.clock, session);
    const about = { keyspace, key, nowMs: ports.clock.nowMs() };
    const reading = Promise.resolve(
      coordinateRead(ports, { ...about, consistency: 'linearizable' }),
    );
    const found = await reading.catch((error: unknown) => {
      throw withDetails(error, { outcome: 'rejected' }); // nothing is written yet
    });
    if (change(found) === null) return { record: found, isChanged: false };
    return propose(ports, { ...about, change });
  });
}
