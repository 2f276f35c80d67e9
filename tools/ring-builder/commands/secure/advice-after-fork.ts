// Advice after settle, for servers that were away or map keys differently. After a fork it differs
// from the table in advice.ts. Pure.
import { quoteWord } from '@ringwright/base/quote-command';
import { adviceOn, named, rowOf, worstOf } from '../../servers/advice.ts';
import type { Advice, AdviceContext, ServerFailure } from '../../servers/advice-rule.ts';
import { withoutForGood } from '../../servers/gone-for-good.ts';

/**
 * Like adviceOn. A server that was away may hold the other history, and then takes this one only
 * from settle.
 */
export function adviceAfterFork(
  context: AdviceContext,
  failures: readonly ServerFailure[],
  reason: string,
): Advice | null {
  const worst = worstOf(failures);
  const [first] = worst;
  if (first?.code === 'RING_FOREIGN') {
    const help = waysToFindKeys(context.ring, first.address);
    const text = `check that the folder is the right one, of the same cluster. If so: ${help}`;
    return { command: `servers ${context.ring.keyspace}`, text };
  }
  if (first === undefined || rowOf(first.code) !== 'PEER_UNREACHABLE') {
    return adviceOn(context, failures);
  }
  const { ring } = context;
  const again = worst.length === 1 ? 'when it is back' : 'when they are back';
  const gone = worst.flatMap(({ devices }) => devices);
  return {
    command: `settle ${ring.keyspace} -m ${quoteWord(reason)}`,
    text:
      `start ${named(worst)}; ${again}, run settle again: those with the other history can take ` +
      `this one only from settle${withoutForGood(context, gone)}`,
  };
}

/**
 * Returns the ways out when a server would not find its records under this history, because one of
 * the two has split or merged partitions. `holder`: a server that has the other history.
 */
export function waysToFindKeys(
  { keyspace, moves }: AdviceContext['ring'],
  holder = 'IP:PORT',
): string {
  const cancel = moves.length > 0 ? [`moves ${keyspace} cancel all`] : [];
  const same = [...cancel, `split ${keyspace} … or merge ${keyspace} …`, `commit ${keyspace}`];
  return (
    'if partitions were split or merged since the histories diverged, either make the same ' +
    `splits and merges here: ring-builder ${same.join(', ')}, then settle; ` +
    'or keep the history that has them: run settle in its folder, or take it over with ' +
    `ring-builder restore ${keyspace} --from ${holder} --replace, then settle`
  );
}

/**
 * Returns the way out when neither history can follow the other: the servers of one start empty,
 * and the records that only they had are restored from an archive. `holders` have the other
 * history.
 */
export function wayWithArchive(
  keyspace: string,
  holders: readonly Pick<ServerFailure, 'address'>[],
): string {
  const from = holders[0]?.address ?? 'IP:PORT';
  return (
    'choose one history; if one of them is a new ring, create it under another name instead. ' +
    'To keep the one here, first save the records of the other: ' +
    `ring-builder restore ${keyspace} --from ${from} --rings OTHER, ` +
    `ring-builder archive-data ${keyspace} --to FOLDER --rings OTHER; ` +
    'save those of all other rings too, because the next step deletes what these servers have ' +
    'of them (ring-builder list, archive-data); ' +
    `stop ${named(holders)}, empty their data directories except device-key.pem, and start them; ` +
    `ring-builder rollout ${keyspace}, ring-builder restore-data ${keyspace} --from FOLDER; ` +
    'the same for the other rings, if records are missing. ' +
    'To keep the other one, do the same in its folder'
  );
}
