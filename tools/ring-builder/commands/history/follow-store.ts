// Before a verb runs: the working copy catches up with the store in which its heads are recorded.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { storeAccessOf } from '@ringwright/head-store/store-access';
import { readStoreFile, useStore } from '@ringwright/repository/shared/store-file';
import { catchUp } from '@ringwright/repository/write-ring';
import { type Arguments, optionalText, usage } from '../../cli/arguments.ts';
import type { Context } from '../../cli/verb.ts';
import { authorOf } from '../../versions/stage-verb.ts';

/** Said by the verb itself, when it matters to it. */
const left: ReadonlySet<ErrorCode> = new Set([
  'RING_UNKNOWN',
  'NAME_INVALID',
  'STAGED_ON_OLD_HEAD',
]);

/**
 * --store is remembered in the rings folder, and which files open it. Verbs that only read go on
 * with what is here when the store does not answer, and say so; those that write ask it again.
 * Throws USAGE.
 */
export async function followStore(
  args: Arguments,
  context: Context,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const url = optionalText(args, 'store');
  const access = storeAccessOf((name) => optionalText(args, name), env);
  const given = optionalText(args, 'ring-stores');
  const stores = given === undefined ? [] : given.split(',');
  if (url === undefined && given !== undefined) {
    throw usage('--ring-stores is given together with --store');
  }
  const known = url ?? (await readStoreFile(context.rings))?.url;
  const isGiven = url !== undefined || Object.keys(access).length > 0;
  if (known !== undefined && isGiven) await useStore(context.rings, { url: known, stores, access });
  const ring = optionalText(args, 'ring');
  if (ring === undefined) return;
  const failure = await orCoded(catchUp({ rings: context.rings, ring }, authorOf(context)));
  if (!(failure instanceof CodedError) || left.has(failure.code)) return;
  const { code, message, hint } = failure;
  context.tell(`warning ${code}: ${message}; this is of the copy in ${context.rings}`);
  if (hint !== '') context.tell(`hint: ${hint}`);
}
