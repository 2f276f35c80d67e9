// One writer per ring folder, by claim files that name their owner. Claims of dead owners are
// removed. Every writer adds a claim of its own and then lists all claims. Of two writers at least
// one sees the other, so two never hold the lock. A dead claim has a name of its own, so removing
// it can never remove a live one. A single lock file cannot promise that when two writers find it
// stale at once.
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { lockPollMs, lockWaitMsMax } from '@ringwright/base/limits';
import { jsonOrNull } from '@ringwright/base/parse-json';
import { codeOf } from '@ringwright/base/thrown';
import { temporaryPrefix } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularText } from '@ringwright/node/read-regular-file';
import { withPath } from '@ringwright/node/with-path';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import { z } from 'zod';
import { type RingFolder } from './ring-folder.ts';

/** What is locked: a ring's folder, or another one under a name for messages. */
type LockedFolder = Pick<RingFolder, 'ring' | 'path'>;

const lockPrefix = '.lock-';

const ownerSchema = z.strictObject({
  pid: z.int().positive(),
  host: z.string(),
  user: z.string(),
  time: z.string(),
});

type LockOwner = z.infer<typeof ownerSchema>;

let claims = 0;

/** Runs `work` as the only writer. After a short wait throws LOCK_HELD, which names the owner. */
export async function withRingLock<T>(
  folder: LockedFolder,
  author: { readonly user: string; readonly time: string },
  work: () => Promise<T>,
): Promise<T> {
  const owner: LockOwner = {
    pid: process.pid,
    host: hostname(),
    user: author.user,
    time: author.time,
  };
  const claim = await acquire(folder, owner);
  try {
    return await work();
  } finally {
    await rm(claim, { force: true });
  }
}

async function acquire(folder: LockedFolder, owner: LockOwner): Promise<string> {
  claims += 1;
  const name = `${lockPrefix}${owner.host}-${owner.pid}-${claims}`;
  const claim = join(folder.path, name);
  for (let waitedMs = 0; ; waitedMs += lockPollMs) {
    // Read from the folder each time: a restore that replaces the ring takes the claims away.
    let { isClaimed, others } = await livingClaims(folder, name);
    if (!isClaimed && others.length === 0) {
      await writeClaim(folder, name, owner);
      ({ isClaimed, others } = await livingClaims(folder, name));
    }
    if (isClaimed && others.length === 0) return claim;
    // The smallest name keeps its claim while it waits; the others withdraw, so one of them
    // proceeds.
    const makesWay = others.some((other) => other.name < name) || waitedMs >= lockWaitMsMax;
    if (isClaimed && makesWay) await rm(claim, { force: true });
    if (waitedMs >= lockWaitMsMax) throw lockHeld(folder, others[0]);
    await delay(lockPollMs);
  }
}

/**
 * Returns who is changing the ring now, or null. Claims of dead processes are left to the next
 * writer.
 */
export async function lockOwner(folder: LockedFolder): Promise<LockOwner | null> {
  const claims = await claimsOf(folder, await readdir(folder.path));
  return claims.find(({ owner }) => owner !== null && !isDead(owner))?.owner ?? null;
}

/**
 * Removes the claims in a folder that was replaced. Writers that wait there claim again in the new
 * one.
 */
export async function removeClaims(folder: LockedFolder): Promise<void> {
  const claims = (await readdir(folder.path)).filter((name) => name.startsWith(lockPrefix));
  for (const name of claims) await rm(join(folder.path, name), { force: true });
}

/**
 * Writes by rename, so that a claim is never seen without its owner. It need not survive a power
 * failure.
 */
async function writeClaim(folder: LockedFolder, name: string, owner: LockOwner): Promise<void> {
  const temporary = join(folder.path, `${temporaryPrefix}${name}`);
  await writeFile(temporary, `${JSON.stringify(owner)}\n`).catch(withPath(temporary));
  await rename(temporary, join(folder.path, name));
}

interface Claim {
  readonly name: string;
  readonly owner: LockOwner | null;
}

/** Returns whether the own claim is there, and those of other owners that may live. */
async function livingClaims(
  folder: LockedFolder,
  ownName: string,
): Promise<{ readonly isClaimed: boolean; readonly others: readonly Claim[] }> {
  const names = await readdir(folder.path);
  await removeUnfinished(folder, names);
  const living: Claim[] = [];
  for (const claim of await claimsOf(folder, names)) {
    if (claim.name === ownName) continue;
    // A power failure keeps the name of a claim, and may lose its content.
    const owner = claim.owner ?? ownerIn(claim.name.slice(lockPrefix.length));
    const isOwnerDead = owner !== null && isDead(owner);
    if (isOwnerDead) await rm(join(folder.path, claim.name), { force: true });
    else living.push(claim);
  }
  return { isClaimed: names.includes(ownName), others: living };
}

/** Returns claims sorted by name. Skips those that are removed during the scan. */
async function claimsOf(folder: LockedFolder, names: readonly string[]): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const name of names.filter((each) => each.startsWith(lockPrefix)).sort()) {
    const text = await readRegularText(join(folder.path, name)).catch(nullIfMissing);
    if (text === null) continue;
    claims.push({ name, owner: ownerSchema.safeParse(jsonOrNull(text)).data ?? null });
  }
  return claims;
}

/**
 * Removes claims that dead processes were still writing. No other process has seen them as claims.
 */
async function removeUnfinished(folder: LockedFolder, names: readonly string[]): Promise<void> {
  const prefix = `${temporaryPrefix}${lockPrefix}`;
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const owner = ownerIn(name.slice(prefix.length));
    if (owner !== null && isDead(owner)) await rm(join(folder.path, name), { force: true });
  }
}

/** Returns the owner that a claim's name has after its prefix; null for another name. */
function ownerIn(name: string): Pick<LockOwner, 'pid' | 'host'> | null {
  // Matched from the end, because a host name may end like a process id, such as db-77.
  const [, host, pid] = /^(.+)-(\d+)-\d+$/.exec(name) ?? [];
  return host === undefined ? null : { host, pid: Number(pid) };
}

/** Whether the owner is dead. That can be known only of a process on this machine. */
export function isDead(owner: Pick<LockOwner, 'pid' | 'host'>): boolean {
  if (owner.host !== hostname()) return false;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

function lockHeld(folder: LockedFolder, claim: Claim | undefined): CodedError {
  const owner = claim?.owner ?? null;
  const path = join(folder.path, claim?.name ?? basename(folder.path));
  const holder = owner === null ? 'an unreadable lock file' : describeOwner(owner);
  // trust.json and archives are locked like a ring.
  const what = keyspaceNamePattern.test(folder.ring) ? `ring ${folder.ring}` : folder.ring;
  return new CodedError('LOCK_HELD', `${what} is being changed by ${holder}`, {
    hint: `try again when it has finished; if that process no longer exists: rm ${path}`,
    details: { ring: folder.ring, owner, path },
  });
}

export function describeOwner({ user, pid, host, time }: LockOwner): string {
  return `${user} (process ${pid} on ${host}) since ${time}`;
}
