// Describes a root of trust, and what another root would change. Pure.
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { TrustRole, TrustRoot } from '@ringwright/ring/trust/trust-root';

export function describe(root: TrustRoot): string[] {
  const names = (role: keyof TrustRoot['roles']): string =>
    root.roles[role].keys
      .map((id) => root.keys.find(({ spki }) => keyIdOf(spki) === id)?.name ?? id)
      .join(', ');
  const { ring, beacon } = root.roles;
  const override = ring.override ? 'or an override' : 'no override';
  return [
    `epoch ${root.epoch}, valid until ${root.expires}`,
    `root keys: ${names('root')} (${root.roles.root.threshold} needed)`,
    `ring keys: ${names('ring')} (${ring.threshold} needed; ${ring.large} for a large change, beyond one device or server that comes or goes and ${100 * ring.movedShare} % of the slots, ${override})`,
    `beacon keys: ${beacon.keys.length === 0 ? 'none' : `${names('beacon')} (${beacon.threshold} needed)`}`,
  ];
}

/**
 * Lists the changes for a person to read before signing. Keys are listed by id as well, because a
 * name may be reused for another key.
 */
export function changeLines(before: TrustRoot, after: TrustRoot): string[] {
  const known = new Set(describe(before));
  return [
    ...keysOnlyIn(before, after).map((key) => `it removes ${key}`),
    ...keysOnlyIn(after, before).map((key) => `it adds ${key}`),
    ...describe(after)
      .filter((line) => !known.has(line))
      .map((line) => `new: ${line}`),
  ];
}

function keysOnlyIn(one: TrustRoot, other: TrustRoot): string[] {
  const roles: readonly TrustRole[] = ['root', 'ring', 'beacon'];
  return roles.flatMap((role) =>
    one.roles[role].keys
      .filter((id) => !other.roles[role].keys.includes(id))
      .map((id) => {
        const name = one.keys.find(({ spki }) => keyIdOf(spki) === id)?.name ?? 'without a name';
        return `the ${role} key ${name} (${id.slice(0, 12)})`;
      }),
  );
}
