// Brings the working copy up to date with the store of its heads before a command runs.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import { storeAccessOf } from '@ringwright/head-store/store-access';
import { readStoreFile, useStore } from '@ringwright/repository/shared/store-file';
import { catchUp } from '@ringwright/repository/write-ring';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/command.ts';
import { authorOf } from '../../versions/stage-command.ts';

/** Errors that the command itself reports if they matter to it. */
const left: ReadonlySet<ErrorCode> = new Set([
  'RING_UNKNOWN',
  'NAME_INVALID',
  'STAGED_ON_OLD_HEAD',
]);

/**
 * Remembers --store in the rings folder, and its credential files for this user. Returns why the
 * store did not answer: commands that only read continue with the local files and say so; commands
 * that write ask the store again, and fail. Throws USAGE.
 */
export async function followStore(
  args: Arguments,
  context: Context,
  env: Readonly<Record<string, string | undefined>>,
): Promise<CodedError | null> {
  const url = args.optionalText('store');
  const access = storeAccessOf((name) => args.optionalText(name), env);
  const typedStores = args.optionalText('ring-stores');
  const stores = typedStores === undefined ? [] : typedStores.split(',');
  const found = await readStoreFile(context.rings);
  const known = url ?? found?.url;
  if (known === undefined && typedStores !== undefined) {
    throw usage('--ring-stores needs --store');
  }
  const isOpened = Object.keys(access).length > 0;
  // The folder is shared: a store that only the folder names is sent no credentials.
  if (url === undefined && isOpened && found !== null && found.access === undefined) {
    throw usage(
      `${context.rings} names the store ${found.url}, which this user has not opened yet`,
      `if that is the right store, give --store ${found.url} once`,
    );
  }
  if (known !== undefined && (url !== undefined || isOpened || typedStores !== undefined)) {
    await useStore(context.rings, { url: known, stores, access });
  }
  const ring = args.optionalText('ring');
  if (ring === undefined) return null;
  const failure = await resultOrError(catchUp({ rings: context.rings, ring }, authorOf(context)));
  return failure instanceof CodedError && !left.has(failure.code) ? failure : null;
}

/**
 * Runs the command, and says that it used the copy. A command that fails because of the store says
 * that itself.
 */
export async function withoutStore(
  context: Context,
  { code, message, hint }: CodedError,
  run: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await resultOrError(run());
  if (!(answer instanceof CodedError && answer.code === code)) {
    context.tell(`warning ${code}: ${message}; this answer is from the copy in ${context.rings}`);
    if (hint !== '') context.tell(`hint: ${hint}`);
  }
  if (answer instanceof CodedError) throw answer;
  return answer;
}
