// Two ends of a connection must speak the same version of the wire format. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { programVersion } from '@ringwright/base/program-version';
import { wireVersion } from './wire-version.ts';

/**
 * Throws WIRE_VERSION_UNKNOWN, which names the release at this end: it may be read at the other.
 * `who`: the other end.
 */
export function checkWireVersion(theirs: number, who = 'the other end'): void {
  if (theirs === wireVersion) return;
  const own = `release ${programVersion} speaks ${wireVersion}`;
  const message = `${who} speaks wire version ${theirs}, ${own}`;
  throw new CodedError('WIRE_VERSION_UNKNOWN', message, {
    hint: 'run the same release on both; --version tells it',
    details: { theirs, wireVersion, release: programVersion },
  });
}
