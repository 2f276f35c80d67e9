// Brings the working copy up to date with the store of its heads before a verb runs.
import { CodedError, orCoded } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { storeAccessOf } from '@ringwright/head-store/store-access';
import { readStoreFile, useStore } from '@ringwright/repository/shared/store-file';
import { catchUp } from '@ringwright/repository/write-ring';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Context } from '../../cli/verb.ts';
import { authorOf } from '../../versions/stage-verb.ts';

/** Errors that the verb itself reports if they matter to it. */
const left: ReadonlySet<ErrorCode> = new Set([
  'RING_UNKNOWN',
  'NAME_INVALID',
  'STAGED_ON_OLD_HEAD',
]);

/**
 * Remembers --store and its access files in the rings folder, then catches up. If the store does
 * not answer, prints a warning: verbs that only read continue with the local copy, and verbs that
 * write ask the store again. Throws USAGE.
 */
export async function followStore(
  args: Arguments,
  context: Context,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const url = args.optionalText('store');
  const access = storeAccessOf((name) => args.optionalText(name), env);
  const given = args.optionalText('ring-stores');
  const stores = given === undefined ? [] : given.split(',');
  if (url === undefined && given !== undefined) {
    throw usage('--ring-stores is given together with --store');
  }
  const known = url ?? (await readStoreFile(context.rings))?.url;
  const isGiven = url !== undefined || Object.keys(access).length > 0;
  if (known !== undefined && isGiven) await useStore(context.rings, { url: known, stores, access });
  const ring = args.optionalText('ring');
  if (ring === undefined) return;
  const failure = await orCoded(catchUp({ rings: context.rings, ring }, authorOf(context)));
  if (!(failure instanceof CodedError) || left.has(failure.code)) return;
  const { code, message, hint } = failure;
  context.tell(`warning ${code}: ${message}; this is of the copy in ${context.rings}`);
  if (hint !== '') context.tell(`hint: ${hint}`);
}
