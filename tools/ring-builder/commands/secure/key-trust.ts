// ring-builder key trust and key revoke: show the root in force, and make the next one.
import { isDeepStrictEqual } from 'node:util';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { approvalOf } from '@ringwright/repository/approval';
import { requireAccess } from '@ringwright/repository/change-access';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { readTrust, requireTrust, trustPath } from '@ringwright/repository/folder/trust-file';
import {
  discardWaiting,
  type Rotation,
  rotateTrust,
  waitingRoot,
} from '@ringwright/repository/rotate-trust';
import { listKeys, loadKey } from '@ringwright/repository/signing-key';
import type { TrustRoot } from '@ringwright/ring/trust/trust-root';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/command.ts';
import { acceptRoot } from '../../versions/known-root.ts';
import { trustOf } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';
import { changeLines, describe } from './describe-root.ts';
import { changeOfRoot, isChange, withoutKeys } from './root-change.ts';

export async function trustAnswer(args: Arguments, context: Context): Promise<Answer> {
  if (args.flag('discard')) return discardAnswer(args, context);
  const accepted = args.optionalText('accept');
  if (accepted !== undefined) return acceptAnswer(args, context, accepted);
  if (args.flag('sign')) {
    if (isChange(args))
      throw usage('--sign signs the pending root unchanged; it cannot be combined with changes');
    return rotate(context, null);
  }
  if (!isChange(args)) return show(context);
  return rotate(context, changeOfRoot(args, context));
}

export async function revokeAnswer(
  args: Arguments,
  context: Context,
  names: readonly string[],
): Promise<Answer> {
  if (names.length === 0) throw usage('no key named', 'ring-builder key revoke NAME|ID');
  const change = changeOfRoot(args, context);
  return rotate(context, (root) => withoutKeys(change(root), names));
}

async function rotate(
  context: Context,
  change: ((root: TrustRoot) => TrustRoot) | null,
): Promise<Answer> {
  const { trust } = await requireTrust(context.rings);
  const known = await listKeys(context.keys.folder);
  const waiting = await waitingRoot(context.rings);
  const ids = new Set([...trust.keys.root.keys(), ...(waiting?.root.roles.root.keys ?? [])]);
  const after = change === null ? [] : change(trust.root).roles.root.keys;
  const usable = known.filter(({ id }) => ids.has(id) || after.includes(id));
  const { folder } = context.keys;
  const keys = await Promise.all(
    usable.map(({ name }) => loadKey(folder, name, () => context.keys.passphrase('open'))),
  );
  const rotation = await rotateTrust(context.rings, authorOf(context), {
    change,
    keys,
    replacesWaiting: context.yes,
  });
  const isNews = change !== null || !isDeepStrictEqual(rotation, waiting);
  // A co-signer sees what was signed, even without having read `key trust` before.
  const changes = changeLines(trust.root, rotation.root);
  return rotation.inForce
    ? rotationAnswer(context, rotation, changes)
    : waitingAnswer(context, rotation, { isNews, changes });
}

async function rotationAnswer(
  context: Context,
  rotation: Rotation,
  changes: readonly string[],
): Promise<Answer> {
  const { root, id } = rotation;
  const state =
    `root ${root.version} (${id}) is in force in this folder; ` +
    'servers keep using their current root until a push or beacon';
  const heads = await headsUnder(context);
  const toSign = heads.filter(({ missing }) => missing > 0);
  const isAccessOpen = await lacksSignatures(context);
  const [unsigned, first] = [toSign[0], heads[0]];
  const [past] = heads.filter(({ epoch }) => epoch !== root.epoch);
  const again = past && `commit ${past.ring} -m REASON`;
  const sign = unsigned && `sign ${unsigned.ring} ${unsigned.version}`;
  const nextCommand =
    again ?? sign ?? (isAccessOpen ? 'access sign' : first ? `push ${first.ring}` : 'key list');
  return {
    json: { ...rotation, toSign, changed: true },
    lines: [
      state,
      ...describe(root),
      ...changes,
      ...toSign.map(({ ring, version }) => `${ring} version ${version} has too few signatures now`),
      past !== undefined &&
        `signatures of epoch ${past.epoch} are no longer valid: each ring needs a new version`,
      isAccessOpen &&
        `the access document lacks signatures now: ${context.next('access sign')} adds one`,
    ],
    next: context.next(nextCommand),
  };
}

/** Whether the access document lacks signatures. A server that starts empty would not accept it. */
async function lacksSignatures({ rings }: Context): Promise<boolean> {
  const access = await resultOrError(requireAccess(rings));
  return !(access instanceof CodedError) && access.signers.length < access.needed;
}

interface SignedHead {
  readonly ring: string;
  readonly version: number;
  readonly epoch: number;
  /** Signatures that it lacks before it can be pushed. */
  readonly missing: number;
}

/** Returns signed heads, judged by the root in force. `health` reports unreadable rings. */
async function headsUnder(context: Context): Promise<SignedHead[]> {
  const trust = await trustOf(context);
  const heads: SignedHead[] = [];
  for (const ring of await listRings(context.rings)) {
    const head = await readVersion(context.rings, ring, 'head').catch(() => null);
    if (head === null || head.signing === null) continue;
    const { missing } = approvalOf(head, trust);
    const { epoch } = head.signing;
    heads.push({ ring, version: head.ring.version, epoch, missing });
  }
  return heads;
}

async function show(context: Context): Promise<Answer> {
  const { trust } = await requireTrust(context.rings);
  const waiting = await waitingRoot(context.rings);
  const { root, id } = trust;
  const path = trustPath(context.rings);
  const localKeyIds = new Set((await listKeys(context.keys.folder)).map((key) => key.id));
  const isOld = waiting !== null && waiting.root.version <= root.version;
  const maySign = waiting?.unsigned.some((key) => localKeyIds.has(key.id)) === true;
  const nextCommand = maySign ? 'key trust --sign' : 'key list';
  return {
    json: { root, id, trust: path, waiting },
    lines: [
      `root ${root.version} of cluster '${root.cluster}': ${id}`,
      ...describe(root),
      isOld && `trust-next.json is older: ${context.next('key trust --discard')} discards it`,
      ...(waiting === null || isOld
        ? []
        : ['', ...waitingLines(context, waiting), ...changeLines(root, waiting.root)]),
      `servers: ring-server --trust ${path} …, or --trust ${id}`,
    ],
    next: context.next(isOld ? 'key trust --discard' : nextCommand),
  };
}

/** `isNews`: something was signed or changed. `changes`: against the root in force. */
function waitingAnswer(
  context: Context,
  rotation: Rotation,
  { isNews, changes }: { readonly isNews: boolean; readonly changes: readonly string[] },
): Answer {
  return {
    json: { ...rotation, toSign: [], changed: isNews },
    lines: [
      !isNews && 'nothing to add: the root keys here have already signed it',
      ...waitingLines(context, rotation),
      ...describe(rotation.root),
      ...changes,
    ],
    next: context.next('key trust'),
  };
}

function waitingLines(context: Context, rotation: Rotation): string[] {
  const { root, byPrevious, byItself, unsigned } = rotation;
  const count = ([found, needed]: readonly [number, number], whose: string): string =>
    `${found} of ${counted(needed, 'signature')} of ${whose} root keys`;
  const counts = `${count(byPrevious, 'the old')}, ${count(byItself, 'its own')}`;
  const names = unsigned.map(({ name }) => name).join(', ');
  return [
    `root ${root.version} is pending in trust-next.json: ${counts}`,
    `not signed yet by ${names}: on a machine with one of these keys, in this folder or ` +
      `a copy of it, ${context.next('key trust --sign')}`,
  ];
}

/** Throws USAGE; TRUST_UNKNOWN if no root waits. */
async function discardAnswer(args: Arguments, context: Context): Promise<Answer> {
  if (isChange(args) || args.flag('sign')) {
    throw usage('--discard discards the pending root, and takes no other option');
  }
  await discardWaiting(context.rings, authorOf(context));
  return {
    json: { discarded: true, changed: true },
    lines: ['discarded the pending root with its signatures'],
    next: context.next('key trust'),
  };
}

/** Throws USAGE, and TRUST_FORK if the newest root of the folder has another id. */
async function acceptAnswer(args: Arguments, context: Context, id: string): Promise<Answer> {
  if (isChange(args) || args.flag('sign')) {
    throw usage('--accept accepts a root as it is, and takes no other option');
  }
  const path = trustPath(context.rings);
  const found = await readTrust(context.rings);
  if (id === 'none' ? found !== null : found?.trust.id !== id) {
    const isRoot = found === null ? 'does not exist' : `ends with root ${found.trust.id}`;
    throw new CodedError('TRUST_FORK', `${path} ${isRoot}, not with ${id}`, {
      hint: 'ring-builder key trust shows the root; compare its id with a holder of a root key',
      details: { rings: context.rings, wanted: id, id: found?.trust.id ?? null },
    });
  }
  await acceptRoot(context, found);
  const rings = context.rings;
  return {
    json: { accepted: found?.trust.id ?? null, rings, changed: true },
    lines: [
      found === null
        ? `the rings in ${rings} may be unsigned from now on`
        : `root ${found.trust.root.version} (${id}) of ${path} is trusted from now on`,
    ],
    next: context.next('health'),
  };
}
