// Who log entries, staged changes and locks name: a person at a machine, such as alice@db1. Pure.
import { authorCharactersMax } from '@ringwright/base/limits';
import { usage } from './arguments.ts';

export interface AuthorSources {
  /** --author. */
  readonly given: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The name of the account; throws where the user id has none, as in many containers. */
  readonly account: () => string;
  /** Undefined where there are no user ids. */
  readonly uid: number | undefined;
  readonly host: string;
}

/**
 * The first there is of --author, RINGWRIGHT_AUTHOR, SUDO_USER, the account's name and `uid-1000`,
 * with `@host` unless it names a place itself. Throws USAGE for a name that is no single line of
 * text.
 */
export function authorName({ given, env, account, uid, host }: AuthorSources): string {
  const named = given ?? env['RINGWRIGHT_AUTHOR'];
  if (named !== undefined && !isName(named)) {
    const what = given === undefined ? 'RINGWRIGHT_AUTHOR' : '--author';
    const wanted = `1 to ${authorCharactersMax} characters on one line`;
    throw usage(`${what} ${JSON.stringify(named)} is no name: ${wanted}`, '--author alice');
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
