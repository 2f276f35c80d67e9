// Returns the builder state that a version carries. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';

/** Throws RING_FILE_INVALID if the version's file carries no builder state. */
export function stateOf({ ring, state }: StoredVersion): BuilderState {
  if (state !== null) return state;
  const { keyspace, version } = ring;
  const message = `version ${version} of ${keyspace} does not carry the builder`;
  throw new CodedError('RING_FILE_INVALID', message, {
    hint: 'such a file serves lookups only; take a version that ring-builder wrote',
    details: { ring: keyspace, version },
  });
}
