// A device that fails for good: it is removed, its replicas are rebuilt, and then it returns.

import { pick } from '@ringwright/base/random';
import { losses } from '../stage.ts';
import { endedWith, isRolledOut, rollOut, startRollout } from './operator.ts';
import { commitChange, standingOf } from './ring-changes.ts';
import type { RingScenario } from './ring-faults.ts';

export const DEAD = 'rings: dead device removed';

/** Its server returns with its old files, as a new device of the ring. */
export async function buryOne({ stage, random, signal }: RingScenario): Promise<void> {
  // A device whose removal was cancelled is still in the ring, but cannot be removed again.
  const { devices } = await standingOf(stage);
  const { id } = pick(random, devices);
  const dead = stage.victimOf(await stage.head(), id);
  const roll = async (...options: readonly string[]): Promise<void> => {
    while (!signal.aborted) {
      if (isRolledOut(await endedWith(signal, startRollout(stage, options)))) return;
    }
  };
  await stage.turns.run(losses, async () => {
    await stage.fault(DEAD, [dead], async () => {
      await dead.end('kill');
      try {
        await commitChange(stage, { name: 'dead' }, [['remove', `d${id}`]]);
        await roll('--skip-down');
      } finally {
        await dead.start();
      }
    });
    // Time was up before the device left the ring: its server still belongs to the ring, with files
    // that were not moved.
    if (dead.idIn(await stage.head()) !== -1) {
      await rollOut(stage, { options: ['--confirm-drops'] });
      return;
    }
    await commitChange(stage, { name: 'back' }, [['add', dead.text, '1']]);
    await roll('--confirm-drops');
  });
}
