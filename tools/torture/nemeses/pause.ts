// SIGSTOP and SIGCONT: a server that neither answers nor is down, and resumes with an old state.
import { pick } from '@ringwright/base/random';
import { lasts, type Nemesis } from '../nemesis.ts';

/** Sometimes longer than the timeout of a call to a peer. */
const PAUSE_MS_MAX = 8_000;
const PAUSE_MS_MIN = 200;
/** One in this many pauses stops all servers. */
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
