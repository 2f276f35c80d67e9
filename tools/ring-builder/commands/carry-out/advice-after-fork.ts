// Advice after settle, for servers that were away or map keys differently. After a fork it differs
// from the table in advice.ts. Pure.
import { quoteWord } from '@ringwright/base/quote-command';
import {
  type Advice,
  adviceOn,
  named,
  type Plight,
  rowOf,
  type Situation,
  worstOf,
} from '../../servers/advice.ts';
import { withoutForGood } from '../../servers/gone-for-good.ts';

/**
 * Like adviceOn. A server that was away may hold the other history, and then takes this one only
 * from settle.
 */
export function adviceAfterFork(
  situation: Situation,
  plights: readonly Plight[],
  reason: string,
): Advice | null {
  const worst = worstOf(plights);
  const [first] = worst;
  if (first?.code === 'RING_FOREIGN') {
    const ways = waysToFindKeys(situation.ring, first.address);
    const text = `is it the right folder, and of the cluster of the servers? If so: ${ways}`;
    return { command: `servers ${situation.ring.keyspace}`, text };
  }
  if (first === undefined || rowOf(first.code) !== 'PEER_UNREACHABLE') {
    return adviceOn(situation, plights);
  }
  const { ring } = situation;
  const again = worst.length === 1 ? 'when it is back' : 'when they are back';
  const gone = worst.flatMap(({ devices }) => devices);
  return {
    command: `settle ${ring.keyspace} -m ${quoteWord(reason)}`,
    text:
      `start ${named(worst)}; ${again}, type settle again: what holds the other history takes ` +
      `this one from no other server${withoutForGood(situation, gone)}`,
  };
}

/**
 * Returns the ways out when a server would not find its records under this history, because one of
 * the two has split or merged partitions. `holder`: a server that has the other history.
 */
export function waysToFindKeys({ keyspace, moves }: Situation['ring'], holder = 'IP:PORT'): string {
  const cancel = moves.length > 0 ? [`moves ${keyspace} cancel all`] : [];
  const same = [...cancel, `split ${keyspace} … or merge ${keyspace} …`, `commit ${keyspace}`];
  return (
    'where partitions were split or merged since the histories parted, either make the very same ' +
    `splits and merges here: ring-builder ${same.join(', ')}, then settle; ` +
    'or let the history that has them win: settle in its folder, or take it here with ' +
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
  holders: readonly Pick<Plight, 'address'>[],
): string {
  const from = holders[0]?.address ?? 'IP:PORT';
  return (
    'decide for one; where it is the one here, first keep what the other has: ' +
    `ring-builder restore ${keyspace} --from ${from} --rings OTHER, ` +
    `ring-builder archive-data ${keyspace} --to FOLDER --rings OTHER; ` +
    `stop ${named(holders)}, empty the data directories (device-key.pem stays) and start them; ` +
    `ring-builder rollout ${keyspace}, ring-builder restore-data ${keyspace} --from FOLDER. ` +
    'Where it is the other one, the same in its folder'
  );
}
