// Changes a key by what its record is now. No other write comes between the record that is read and
// the one that is written.
import { byteText } from '@ringwright/base/as-buffer';
import { withDetails } from '@ringwright/base/coded-error';
import type { WireContent } from '../replica/wire-record.ts';
import { checkSession } from './check-session.ts';
import { coordinateRead, type KeyRequest } from './coordinate.ts';
import { type ChangeFunction, type Decided, propose } from './propose.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

type Changed = Decided | { readonly record: WireContent | null; readonly isChanged: false };

/**
 * The change is asked of what a read finds, so that one that is not wanted costs no more than that
 * read, and then of what each round finds. Throws as propose.
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
