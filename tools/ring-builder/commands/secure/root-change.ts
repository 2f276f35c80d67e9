// Turns the options of `key trust` and `key revoke` into a new root. Pure but for the clock.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { trustLifeDaysMax } from '@ringwright/base/limits';
import { keyIdOf, publicKeyOf } from '@ringwright/ring/trust/public-key';
import type { TrustRole, TrustRoot } from '@ringwright/ring/trust/trust-root';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Context } from '../../cli/command.ts';

const roles = ['root', 'ring', 'beacon'] as const;

export function isChange(args: Arguments): boolean {
  const options = ['add', 'threshold', 'large', 'moved-share', 'allow-override', 'days'];
  return args.flag('raise-epoch') || options.some((name) => args.texts(name).length > 0);
}

/** Returns the change. Every new root is valid for --days from now. Throws USAGE. */
export function changeOfRoot(
  args: Arguments,
  context: Pick<Context, 'nowMs'>,
): (root: TrustRoot) => TrustRoot {
  const added = args.texts('add').map(parseAdded);
  const thresholds = args.texts('threshold').map(parseThreshold);
  const large = args.optionalNumber('large');
  const movedShare = args.optionalNumber('moved-share');
  const allow = args.optionalText('allow-override');
  const expires = expiryAfter(args, context);
  return (root) => {
    let next: TrustRoot = { ...root, expires };
    if (args.flag('raise-epoch')) next = { ...next, epoch: root.epoch + 1 };
    for (const one of added) next = withKey(next, one);
    for (const { role, threshold } of thresholds) {
      next = withRole(next, role, { ...next.roles[role], threshold });
    }
    const ring = {
      ...next.roles.ring,
      ...(large === undefined ? {} : { large }),
      ...(movedShare === undefined ? {} : { movedShare }),
      ...(allow === undefined ? {} : { override: allow === 'yes' }),
    };
    return withRole(next, 'ring', ring);
  };
}

/** Throws SIGNING_KEY_UNKNOWN for a name or id that the root does not have. */
export function withoutKeys(root: TrustRoot, names: readonly string[]): TrustRoot {
  const gone = names.map((name) => {
    const found = root.keys.filter(
      (key) => key.name === name || (name.length >= 6 && keyIdOf(key.spki).startsWith(name)),
    );
    if (found[0] !== undefined && found.length === 1) return keyIdOf(found[0].spki);
    const all = counted(found.length, 'key');
    const message = `${all} of root ${root.version} called ${name}, expected 1`;
    throw new CodedError('SIGNING_KEY_UNKNOWN', message, { hint: 'ring-builder key list' });
  });
  let next: TrustRoot = {
    ...root,
    keys: root.keys.filter(({ spki }) => !gone.includes(keyIdOf(spki))),
  };
  for (const role of roles) {
    const keys = next.roles[role].keys.filter((id) => !gone.includes(id));
    const { threshold } = next.roles[role];
    if (keys.length < threshold) throw tooFewKeys({ role, threshold, left: keys.length }, names);
    next = withRole(next, role, { ...next.roles[role], keys });
  }
  return next;
}

function tooFewKeys(
  { role, threshold, left }: { readonly role: string; threshold: number; left: number },
  names: readonly string[],
): CodedError {
  const shortage = `role ${role} has ${counted(left, 'key')}, its threshold is ${threshold}`;
  return new CodedError('TRUST_INVALID', `without ${names.join(' and ')}, ${shortage}`, {
    hint:
      `first add another one: ring-builder key generate NAME --role ${role} prints what ` +
      `ring-builder key trust --add takes; then ring-builder key revoke ${names.join(' ')}`,
    details: { role, threshold, left },
  });
}

interface Added {
  readonly role: TrustRole;
  readonly name: string;
  readonly spki: string;
}

function withKey(root: TrustRoot, { role, name, spki }: Added): TrustRoot {
  const keys = [...root.keys, { name, spki }];
  const ids = [...root.roles[role].keys, keyIdOf(spki)];
  return withRole({ ...root, keys }, role, { ...root.roles[role], keys: ids });
}

function withRole<Role extends TrustRole>(
  root: TrustRoot,
  role: Role,
  value: TrustRoot['roles'][Role],
): TrustRoot {
  return { ...root, roles: { ...root.roles, [role]: value } };
}

function parseAdded(word: string): Added {
  const [, role, name, spki] = /^(root|ring|beacon):([^=]+)=(\S+)$/.exec(word) ?? [];
  const known = roles.find((one) => one === role);
  if (
    known !== undefined &&
    name !== undefined &&
    spki !== undefined &&
    publicKeyOf(spki) !== null
  ) {
    return { role: known, name, spki };
  }
  throw usage(
    `--add ${word} is not ROLE:NAME=PUBLIC`,
    'use a line printed by ring-builder key generate',
  );
}

function parseThreshold(word: string): { readonly role: TrustRole; readonly threshold: number } {
  const [, role, number] = /^(root|ring|beacon)=(\d{1,3})$/.exec(word) ?? [];
  const known = roles.find((one) => one === role);
  if (known !== undefined) return { role: known, threshold: Number(number) };
  throw usage(`--threshold ${word} is not ROLE=N`, '--threshold root=2');
}

/** Returns the expiry of a root made now. */
export function expiryAfter(args: Arguments, context: Pick<Context, 'nowMs'>): string {
  const days = args.optionalNumber('days') ?? trustLifeDaysMax;
  return new Date(context.nowMs() + days * 86_400_000).toISOString();
}
