// Selectors among the words that name moves, as the devices whose moves they mean. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { selectedDevices } from '../versions/device-reference.ts';
import { selectorOf } from '../versions/device-selector.ts';
import { stateOf } from '../versions/state-of-version.ts';
import { isDeviceWord } from './named-moves.ts';

/**
 * The words with `d3 d4` in the place of a selector: those of its devices that have moves. Throws
 * MOVE_UNKNOWN when none has, DEVICE_INVALID.
 */
export function withSelected(head: StoredVersion, words: readonly string[]): string[] {
  const { moves, keyspace, version } = head.ring;
  const moving = new Set(moves.flatMap(({ from, to }) => [from, to]));
  return words.flatMap((word) => {
    const isPlain = word === 'all' || isDeviceWord(word) || /^\d+$/.test(word);
    const selects = isPlain ? null : selectorOf(word);
    if (selects === null) return [word];
    const found = selectedDevices(stateOf(head), selects).filter(({ id }) => moving.has(id));
    if (found.length > 0) return found.map(({ id }) => `d${id}`);
    throw new CodedError('MOVE_UNKNOWN', `version ${version} has no move with ${word}`, {
      hint: `ring-builder moves ${keyspace} list`,
      details: { ring: keyspace, version, selector: word },
    });
  });
}
