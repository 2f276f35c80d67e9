// SIGSTOP and SIGCONT: a server that is neither there nor gone, and wakes up in the past.
import { pick } from '@ringwright/base/random';
import { lasts, type Nemesis } from '../nemesis.ts';

/** Sometimes longer than a call to a peer may take. */
const PAUSE_MS_MAX = 8_000;
const PAUSE_MS_MIN = 200;
/** One pause in so many stops everybody. */
const ALL_EVERY = 6;

export const pause: Nemesis = {
  name: 'SIGSTOP',
  async strike(stage, random, signal) {
    const isAll = random.below(ALL_EVERY) === 0;
    const victims = isAll ? stage.victims : [pick(random, stage.victims)];
    await stage.fault(`pause of ${isAll ? 'all' : 'one'}`, victims, async () => {
      for (const { server } of victims) server.pause();
      await lasts(PAUSE_MS_MIN + random.below(PAUSE_MS_MAX), signal);
      for (const { server } of victims) server.resume();
    });
  },
};
