// A device that dies for good: it is removed, its replicas are made anew, and then it comes back.

import { pick } from '@ringwright/base/random';
import { losses } from '../stage.ts';
import { endedWith, isRolledOut, rollOut, startRollout } from './operator.ts';
import { commitChange, standingOf } from './ring-changes.ts';
import type { RingScenario } from './ring-faults.ts';

export const DEAD = 'rings: dead device removed';

/** Its server comes back with its old files, as a new device of the ring. */
export async function buryOne({ stage, random, signal }: RingScenario): Promise<void> {
  // One whose removal was cancelled is in the ring still, and cannot be removed again.
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
    // Time is up before it has left the ring: its server is one of it, with files nobody moved.
    if (dead.idIn(await stage.head()) !== -1) {
      await rollOut(stage, { options: ['--confirm-drops'] });
      return;
    }
    await commitChange(stage, { name: 'back' }, [['add', dead.text, '1']]);
    await roll('--confirm-drops');
  });
}
