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

/**
 * Says hello, and again in the version of the other end when that one is older and understood here:
 * an older program refuses every version but its own. Throws what `say` throws.
 */
export async function helloInCommonVersion<Answer>(
  say: (version: number) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await say(wireVersion);
  } catch (error) {
    const theirs = error instanceof CodedError ? error.details.wireVersion : null;
    const isRefusal = error instanceof CodedError && error.code === 'WIRE_VERSION_UNKNOWN';
    if (!isRefusal || typeof theirs !== 'number') throw error;
    if (theirs >= wireVersion || theirs < oldestWireVersion) throw error;
    return say(theirs);
  }
}
