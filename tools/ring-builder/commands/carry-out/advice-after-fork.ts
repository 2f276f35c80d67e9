// What to type after settle, where servers were away: for a fork it differs from the common table.
// Pure.
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

/** As adviceOn. A server that was away may hold the other history, and takes this one from nobody. */
export function adviceAfterFork(
  situation: Situation,
  plights: readonly Plight[],
  reason: string,
): Advice | null {
  const worst = worstOf(plights);
  const [first] = worst;
  if (first === undefined || rowOf(first.code) !== 'PEER_UNREACHABLE') {
    return adviceOn(situation, plights);
  }
  const { ring, removed = [] } = situation;
  const again = worst.length === 1 ? 'when it is back' : 'when they are back';
  const gone = worst.flatMap(({ devices }) => devices);
  return {
    command: `settle ${ring.keyspace} -m ${quoteWord(reason)}`,
    text:
      `start ${named(worst)}; ${again}, type settle again: what holds the other history takes ` +
      `this one from no other server${withoutForGood(ring, gone, removed)}`,
  };
}
