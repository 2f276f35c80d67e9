// Names the author in log entries, staged changes and locks, such as alice@db1. Pure.
import { authorCharactersMax } from '@ringwright/base/limits';
import { usage } from './arguments.ts';

export interface AuthorSources {
  /** The value of --author. */
  readonly authorOption: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the account's name; throws if the user id has none, as in many containers. */
  readonly account: () => string;
  /** Undefined on systems without user ids. */
  readonly uid: number | undefined;
  readonly host: string;
}

/**
 * Returns the first that is present of --author, RINGWRIGHT_AUTHOR, SUDO_USER, the account's name
 * and `uid-1000`. Appends `@host` unless the name contains an `@`. Throws USAGE for a name that is
 * not a single line of text.
 */
export function authorName({ authorOption, env, account, uid, host }: AuthorSources): string {
  const named = authorOption ?? env['RINGWRIGHT_AUTHOR'];
  if (named !== undefined && !isName(named)) {
    const what = authorOption === undefined ? 'RINGWRIGHT_AUTHOR' : '--author';
    const expectedForm = `1 to ${authorCharactersMax} characters on one line`;
    throw usage(
      `${what} ${JSON.stringify(named)} is not a valid name: expected ${expectedForm}`,
      '--author alice',
    );
  }
  const name = named ?? [env['SUDO_USER'], accountOrNothing(account)].find(isName) ?? uidName(uid);
  return name.includes('@') ? name : `${name}@${host}`;
}

function isName(name: string | undefined): name is string {
  if (name === undefined || name.trim() === '') return false;
  return name.length <= authorCharactersMax && !/\p{C}|\p{Zl}|\p{Zp}/u.test(name);
}

function accountOrNothing(account: () => string): string | undefined {
  try {
    return account();
  } catch {
    return undefined;
  }
}

function uidName(uid: number | undefined): string {
  return uid === undefined ? 'somebody' : `uid-${uid}`;
}
