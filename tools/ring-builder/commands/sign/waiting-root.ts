// The root that waits in trust-next.json: shows the signatures it lacks, and discards it.
import { counted } from '@ringwright/base/counted';
import { discardWaiting, type Rotation } from '@ringwright/repository/rotate-trust';
import { type Arguments, flag, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/verb.ts';
import { authorOf } from '../../versions/stage-verb.ts';
import { describe } from './describe-root.ts';
import { isChange } from './root-change.ts';

/** `isNews`: something was signed or changed. */
export function waitingAnswer(
  context: Context,
  rotation: Rotation,
  { isNews }: { readonly isNews: boolean },
): Answer {
  return {
    json: { ...rotation, toSign: [], changed: isNews },
    lines: [
      ...(isNews ? [] : ['nothing to add: the root keys here have signed it before']),
      ...waitingLines(context, rotation),
      ...describe(rotation.root),
    ],
    next: context.next('key trust'),
  };
}

export function waitingLines(context: Context, rotation: Rotation): string[] {
  const { root, byPrevious, byItself, unsigned } = rotation;
  const count = ([found, needed]: readonly [number, number], whose: string): string =>
    `${found} of ${counted(needed, 'signature')} of ${whose} root keys`;
  const counts = `${count(byPrevious, 'the old')}, ${count(byItself, 'its own')}`;
  const names = unsigned.map(({ name }) => name).join(', ');
  return [
    `root ${root.version} waits in trust-next.json: ${counts}`,
    `not signed yet by ${names}: where one of those keys is, in this folder or ` +
      `a copy of it, ${context.next('key trust --sign')}`,
  ];
}

/** Throws USAGE; TRUST_UNKNOWN if no root waits. */
export async function discardAnswer(args: Arguments, context: Context): Promise<Answer> {
  if (isChange(args) || flag(args, 'sign')) {
    throw usage('--discard gives up the root that waits, and goes with no other option');
  }
  await discardWaiting(context.rings, authorOf(context));
  return {
    json: { discarded: true, changed: true },
    lines: ['the root that waited is given up, with the signatures it had'],
    next: context.next('key trust'),
  };
}
