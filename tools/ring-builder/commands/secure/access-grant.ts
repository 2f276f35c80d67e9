// ring-builder access grant: makes a token. Its secret is shown once, and only its hash is kept.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { GrantedToken } from '@ringwright/access/access-document';
import { withToken } from '@ringwright/access/change-access';
import {
  clusterRoles,
  type DataRole,
  dataGrantOf,
  dataRoles,
  everyKeyspace,
  type Grant,
  grantText,
} from '@ringwright/access/grant';
import { newToken, tokenHash, tokenIdPattern, tokenText } from '@ringwright/access/token';
import { CodedError } from '@ringwright/base/coded-error';
import { diskError } from '@ringwright/base/disk-error';
import { tokenSecretBytes } from '@ringwright/base/limits-access';
import { writeNewFile } from '@ringwright/node/durable-files';
import { changeAccess } from '@ringwright/repository/change-access';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { openRing } from '@ringwright/repository/open-ring';
import { type Arguments, usage } from '../../cli/arguments.ts';
import type { Answer, Context } from '../../cli/command.ts';
import { requireNewestAccess } from '../../versions/newest-access.ts';
import { ringKey } from '../../versions/signing.ts';
import { authorOf } from '../../versions/stage-command.ts';
import { changedAnswer } from './access-change.ts';

export async function grantAnswer(
  args: Arguments,
  context: Context,
  names: readonly string[],
): Promise<Answer> {
  const [id = '', ...more] = names;
  if (more.length > 0 || id === '')
    throw usage('name one token at a time: access grant NAME --read …');
  if (!tokenIdPattern.test(id)) {
    throw new CodedError('NAME_INVALID', `token name ${JSON.stringify(id)} is not [a-z0-9-]`, {
      hint: 'such as shop, or ada-2: at most 63 characters, beginning with a-z or 0-9',
    });
  }
  const grants = grantsOf(args);
  const days = args.optionalNumber('days');
  const expiresMs = days === undefined ? null : context.nowMs() + days * 86_400_000;
  const token = newToken(id, randomBytes(tokenSecretBytes));
  const granted: GrantedToken = { id, hash: tokenHash(token), expiresMs, grants };
  const key = await ringKey(context);
  await requireNewestAccess(context.rings, context.nowMs());
  const out = args.optionalText('out');
  // Written before the grant takes effect: a token lost on the way would have to be revoked.
  if (out !== undefined) await writeToken(out, tokenText(token));
  const grantsText = grants.map(grantText).join(', ');
  const access = await changeAccess(context.rings, authorOf(context), {
    key,
    change: `grant ${id}: ${grantsText}`,
    next: (before, change) => withToken(before, granted, change),
  }).catch(async (error: unknown) => {
    if (out !== undefined) await rm(out, { force: true });
    throw error;
  });
  const tokenOutput = out === undefined ? { token: tokenText(token) } : { file: out };
  return changedAnswer(context, access, {
    json: { granted: id, grants: grants.map(grantText), expiresMs, ...tokenOutput },
    lines: [
      `token ${id}: ${grantsText}`,
      out === undefined
        ? `${tokenText(token)}   (shown only once: only its hash is stored)`
        : `stored in ${out}, readable only by its owner`,
      ...(await unknownRings(context.rings, grants)),
      ...(access.document.version === 1 ? await keylessRings(context.rings) : []),
    ],
  });
}

function grantsOf(args: Arguments): Grant[] {
  const onData = dataRoles.flatMap((role) => args.texts(role).map((one) => placeOf(role, one)));
  const onCluster = clusterRoles.filter((role) => args.flag(role)).map((role) => ({ role }));
  const grants = [...onData, ...onCluster];
  if (grants.length > 0) return grants;
  throw usage('the token has no permission: add --read, --write, --operator, --metrics or --peer');
}

/**
 * Warns of unknown rings. They may be in another folder or not exist yet; a misspelled name grants
 * nothing.
 */
async function unknownRings(rings: string, grants: readonly Grant[]): Promise<string[]> {
  const known = new Set([everyKeyspace, ...(await listRings(rings))]);
  const named = grants.flatMap((grant) => ('keyspace' in grant ? [grant.keyspace] : []));
  return [...new Set(named)]
    .filter((name) => !known.has(name))
    .map((name) => `there is no ring ${name} here`);
}

/**
 * Warns with the first token, from which on servers demand tokens: also of each other, if the ring
 * names no keys that they could prove.
 */
async function keylessRings(rings: string): Promise<string[]> {
  const keyless: string[] = [];
  for (const name of await listRings(rings)) {
    const opened = await openRing(rings, name).catch(() => null);
    const devices = (opened?.head ?? null) === null ? [] : (opened?.state.devices ?? []);
    if (devices.some((one) => one?.state === 'active' && one.key === undefined)) keyless.push(name);
  }
  if (keyless.length === 0) return [];
  return [
    `from now on, servers demand a token of each other too, since ${keyless.join(', ')} names no ` +
      'keys of theirs: start each with --token-file and a token from ring-builder access grant ' +
      'servers --peer',
  ];
}

function placeOf(role: DataRole, scope: string): Grant {
  const grant = dataGrantOf(role, scope);
  if (grant !== null) return grant;
  throw usage(`--${role} ${scope}: expected KEYSPACE, KEYSPACE/PREFIX, or * for every keyspace`);
}

async function writeToken(file: string, text: string): Promise<void> {
  await writeNewFile(file, `${text}\n`).catch((cause: NodeJS.ErrnoException) => {
    const isThere = cause.code === 'EEXIST';
    const hint = isThere ? 'the file already exists: name a new one' : diskError(cause)?.hint;
    throw new CodedError('FILE_UNFIT', `--out ${file}: ${cause.message}`, { hint, cause });
  });
}
