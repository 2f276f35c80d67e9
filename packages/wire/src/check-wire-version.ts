// Two ends of a connection speak the lower one of their versions of the wire format. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { programVersion } from '@ringwright/base/program-version';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

/**
 * The version that both ends speak. Throws WIRE_VERSION_UNKNOWN, which names the release at this
 * end: it may be read at the other. `who`: the other end.
 */
export function commonWireVersion(theirs: number, who = 'the other end'): number {
  if (theirs >= oldestWireVersion && theirs <= wireVersion) return theirs;
  const own = `release ${programVersion} speaks ${wireVersion}`;
  const message = `${who} speaks wire version ${theirs}, ${own}`;
  throw new CodedError('WIRE_VERSION_UNKNOWN', message, {
    hint: 'run the same release on both; --version tells it',
    details: { theirs, wireVersion, release: programVersion },
  });
}

/** Why a message is not sent: it came with a later version than the other end's, `theirs`. */
export function notSpoken(method: string, theirs: number, who: string): CodedError {
  const message = `${who} is of an older release (wire version ${theirs}), without '${method}'`;
  return new CodedError('WIRE_VERSION_UNKNOWN', message, {
    hint: 'start the server there with the release that is here, on its data',
    details: { theirs, wireVersion, release: programVersion },
  });
}

/**
 * Says hello, and again in older versions when the other end is older: it refuses every version but
 * its own. Some say which one that is; release 0.1.0 only that it does not understand, so its
 * version is tried next. Throws what `say` throws.
 */
export async function helloInCommonVersion<Answer>(
  say: (version: number) => Promise<Answer>,
): Promise<Answer> {
  const untried = new Set<number>();
  for (let older = oldestWireVersion; older < wireVersion; older += 1) untried.add(older);
  for (let version = wireVersion; ; ) {
    try {
      return await say(version);
    } catch (error) {
      const [next] = untried;
      const told = isOfOtherVersion(error) ? (error.details.wireVersion ?? next) : undefined;
      if (typeof told !== 'number' || !untried.delete(told)) throw error;
      version = told;
    }
  }
}

/** Before version 22 a hello had another form. */
function isOfOtherVersion(error: unknown): error is CodedError {
  if (!(error instanceof CodedError)) return false;
  const isForm = error.code === 'PEER_FAILED' && error.message.startsWith('hello: ');
  return isForm || error.code === 'WIRE_VERSION_UNKNOWN';
}
