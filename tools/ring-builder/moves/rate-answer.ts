// moves RING rate: sets the copy rate of all servers of a ring until it is set again.
import { counted } from '@ringwright/base/counted';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { usage } from '../cli/arguments.ts';
import type { Answer, Context } from '../cli/verb.ts';
import { ringTargets } from '../servers/ring-targets.ts';
import { askCopyRates, parseRate, ratesJson, ratesText, setCopyRates } from './copy-rates.ts';
import { noteControl } from './note-control.ts';

/** Without a rate it only shows the present ones. Throws USAGE. */
export async function rateAnswer(
  context: Context,
  head: StoredVersion,
  args: readonly string[],
): Promise<Answer> {
  const { ring, state } = head;
  const [word, ...more] = args;
  if (more.length > 0) throw usage(`rate ${args.join(' ')}: wanted one, such as 50MB/s, or none`);
  const targets = ringTargets(ring, state);
  const rate = word === undefined ? undefined : parseRate(word, 'rate');
  const deaf = rate === undefined ? [] : await setCopyRates(targets, { rate });
  if (rate !== undefined && deaf.length < targets.length) {
    await noteControl(context, head, {
      message: `rate: ${word}`,
      details: { rate: rate ?? 'none' },
    });
  }
  const rates = await askCopyRates(targets);
  const { keyspace } = ring;
  const held = ratesText(rates, targets.length);
  const unheard = targets.length - rates.size;
  return {
    json: {
      ...{ ring: keyspace, ...ratesJson(rates) },
      deaf: deaf.map(({ address, reason }) => `${address}: ${reason}`),
      changed: rate !== undefined,
    },
    lines: [
      `${keyspace}: copies go at ${held === '' ? 'any rate' : held}`,
      ...(rate === null && held !== '' ? ['what is left is their own --copy-rate'] : []),
      ...deaf.map(({ address, reason }) => `${address} did not hear of it: ${reason}`),
      ...(deaf.length === 0 && unheard > 0 ? [`${counted(unheard, 'server')} did not answer`] : []),
    ],
    next: context.next(ring.moves.length > 0 ? `rollout ${keyspace}` : `servers ${keyspace}`),
    exit: deaf.length > 0 || unheard > 0 ? 4 : 0,
  };
}
