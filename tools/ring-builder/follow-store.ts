// Before a verb runs: the working copy catches up with the store in which its heads are recorded.
import { CodedError } from '@ringwright/base/coded-error';
import { catchUp } from '@ringwright/repository/catch-up';
import { useStore } from '@ringwright/repository/store-file';
import { type Arguments, optionalText, usage } from './arguments.ts';
import { authorOf } from './stage-verb.ts';
import type { Context } from './verb.ts';

/** Said by the verb itself, when it matters to it. */
const left = new Set(['RING_UNKNOWN', 'NAME_INVALID', 'STAGED_ON_OLD_HEAD']);

/**
 * --store is remembered in the rings folder. Verbs that only read go on with what is here when the
 * store does not answer, and say so; those that write ask it again. Throws USAGE.
 */
export async function followStore(args: Arguments, context: Context): Promise<void> {
  const url = optionalText(args, 'store');
  const given = optionalText(args, 'ring-stores');
  const stores = given === undefined ? [] : given.split(',');
  if (url !== undefined) await useStore(context.rings, { url, stores });
  else if (given !== undefined) throw usage('--ring-stores is given together with --store');
  const ring = optionalText(args, 'ring');
  if (ring === undefined) return;
  try {
    await catchUp({ rings: context.rings, ring }, authorOf(context));
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    if (left.has(error.code)) return;
    context.tell(
      `warning ${error.code}: ${error.message}; this is of the copy in ${context.rings}`,
    );
  }
}
