// Drops that servers hold back until an operator has seen them: who holds how many, and letting go.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import { confirmDrops } from '@ringwright/wire/trash';
import type { Said } from '../../moves/move-rows.ts';
import { fanOut } from '../../servers/fan-out.ts';
import type { Target } from '../../servers/ring-targets.ts';
import { withServer } from '../../servers/server-connection.ts';

interface HeldDrops {
  readonly address: string;
  readonly device: number;
  /** The ring that takes the partitions away. */
  readonly ringId: string;
  readonly drops: number;
  readonly quarantines: number;
  /** Partitions with what the server says of them. */
  readonly why: string;
}

export interface LetGo extends HeldDrops {
  /** Why the server did not take the word; empty when it did. */
  readonly refusal: string;
}

const confirmTimeoutMs = 20_000;

/** Of the servers that have answered. */
export function heldDrops(targets: readonly Target[], said: Said): HeldDrops[] {
  return targets.flatMap(({ address, devices }) =>
    devices.flatMap((device): HeldDrops[] => {
      const status = said.get(device);
      if (status === undefined || status instanceof Error) return [];
      const { drops, quarantines } = status.held;
      if (drops + quarantines === 0) return [];
      const why = status.draining[0]?.reason ?? '';
      return [{ address, device, ringId: status.id, drops, quarantines, why }];
    }),
  );
}

/** Each server lets go exactly what was shown, or refuses. */
export function letGo(held: readonly HeldDrops[], keyspace: string): Promise<LetGo[]> {
  return fanOut(held, async (one) => {
    const { address, ringId, drops, quarantines } = one;
    const shown = { keyspace, ringId, count: drops + quarantines };
    const confirmed = await orCoded(
      withServer(address, (server) => server.call(confirmDrops, shown, confirmTimeoutMs)),
    );
    return { ...one, refusal: confirmed instanceof CodedError ? confirmed.message : '' };
  });
}
