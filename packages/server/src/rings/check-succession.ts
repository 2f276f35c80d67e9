// May this server go from the ring it has to the one it is given? Pure.
import { canonicalJson } from '@ringwright/base/canonical-json';
import { CodedError } from '@ringwright/base/coded-error';
import { ringVersionJumpMax } from '@ringwright/base/limits';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';

interface IdentifiedRing {
  readonly ring: Ring;
  readonly id: string;
}

/**
 * 'same' when it is the active ring already, 'next' when it may replace it.
 * Throws RING_FOREIGN, RING_OLDER, RING_FORK or RING_VERSION_JUMP.
 */
export function checkSuccession(
  active: IdentifiedRing,
  given: IdentifiedRing,
  { newLine = false }: { readonly newLine?: boolean } = {},
): 'same' | 'next' {
  const [have, want] = [active.ring, given.ring];
  const name = `ring '${want.keyspace}' version ${want.version}`;
  const versions = { active: have.version, given: want.version };
  const details = { ...versions, activeId: active.id, givenId: given.id };
  if (want.cluster !== have.cluster) {
    const message = `${name} is of cluster '${want.cluster}', this server of '${have.cluster}'`;
    throw new CodedError('RING_FOREIGN', message, { details });
  }
  if (print(want.partitioner) !== print(have.partitioner)) {
    const [given, active] = [print(want.partitioner), print(have.partitioner)];
    const message = `${name} maps keys by ${given}, the active one by ${active}`;
    throw new CodedError('RING_FOREIGN', message, { details });
  }
  // The root keys (a new epoch) or an operator (after a fork) said so.
  if (newLine) return 'next';
  if (want.version < have.version) {
    const message = `${name} is older than the active version ${have.version}`;
    const hint = 'push the head; to go back to an old placement, revert makes a new version';
    throw new CodedError('RING_OLDER', message, { details, hint });
  }
  if (want.version === have.version) {
    if (given.id === active.id) return 'same';
    const message = `${name} is active with id ${short(active.id)}, given was ${short(given.id)}`;
    const hint = 'two repositories publish this ring; find out which history is the right one';
    throw new CodedError('RING_FORK', message, { details, hint });
  }
  if (want.version - have.version > ringVersionJumpMax) {
    const message = `${name} is more than ${ringVersionJumpMax} above the active ${have.version}`;
    throw new CodedError('RING_VERSION_JUMP', message, { details });
  }
  if (want.version === have.version + 1 && want.parent !== active.id) {
    const message = `${name} follows ${short(want.parent)}, the active ring is ${short(active.id)}`;
    throw new CodedError('RING_FORK', message, { details });
  }
  return 'next';
}

function print(partitioner: Partitioner): string {
  return canonicalJson({ ...partitioner });
}

function short(id: string | null): string {
  return id === null ? 'nothing' : id.slice(0, 12);
}
