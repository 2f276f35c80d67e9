// The two ends of a connection speak the lower of their wire versions. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { programVersion } from '@ringwright/base/program-version';
import { oldestWireVersion, wireVersion } from './wire-version.ts';

/**
 * Returns the version that both ends speak. Throws WIRE_VERSION_UNKNOWN, which names the release of
 * this end, because the error may be read at the other. `who`: the other end.
 */
export function commonWireVersion(theirs: number, who = 'the other end'): number {
  if (theirs >= oldestWireVersion && theirs <= wireVersion) return theirs;
  const own = `release ${programVersion} speaks ${wireVersion}`;
  const message = `${who} speaks wire version ${theirs}, ${own}`;
  throw new CodedError('WIRE_VERSION_UNKNOWN', message, {
    hint: 'run the same release on both; --version shows it',
    details: { theirs, wireVersion, release: programVersion },
  });
}

/** The error for a message that the other end's wire version, `theirs`, does not have yet. */
export function notSpoken(method: string, theirs: number, who: string): CodedError {
  const message = `${who} runs an older release (wire version ${theirs}), without '${method}'`;
  return new CodedError('WIRE_VERSION_UNKNOWN', message, {
    hint: 'upgrade that server to the release that runs here',
    details: { theirs, wireVersion, release: programVersion },
  });
}

/**
 * Says hello, and repeats it in older versions if the other end is older: an old release refuses
 * every version but its own. Most say which version that is. Release 0.1.0 only says that it does
 * not understand, so its version is tried next. Throws what `say` throws.
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
      const stated = isOfOtherVersion(error) ? (error.details.wireVersion ?? next) : undefined;
      if (typeof stated !== 'number' || !untried.delete(stated)) throw error;
      version = stated;
    }
  }
}

/** Before version 22 a hello had another form. */
function isOfOtherVersion(error: unknown): error is CodedError {
  if (!(error instanceof CodedError)) return false;
  const isForm = error.code === 'PEER_FAILED' && error.message.startsWith('hello: ');
  return isForm || error.code === 'WIRE_VERSION_UNKNOWN';
}
