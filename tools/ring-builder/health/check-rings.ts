// The health of rings: each read once, each server asked once, whatever number of rings it has.
import { codedOrDisk } from '@ringwright/base/disk-error';
import { headOf } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import type { Context } from '../cli/verb.ts';
import { askServers } from '../servers/ask-servers.ts';
import { judgedHead } from './judge-head.ts';
import { type JudgedHead, type JudgedRing, troublesOfRing } from './ring-troubles.ts';
import type { Trouble } from './trouble.ts';

export interface RingHealth {
  readonly ring: string;
  readonly version: number | null;
  readonly id: string | null;
  /** Null: no server was asked, since the ring has no version, or cannot be read. */
  readonly judged: JudgedRing | null;
  readonly troubles: readonly Trouble[];
}

export async function checkRings(
  context: Context,
  names: readonly string[],
): Promise<readonly RingHealth[]> {
  const read: (RingHealth | JudgedHead)[] = [];
  for (const name of names) read.push(await readHead(context, name));
  const heads = read.flatMap((one) => ('judged' in one ? [] : [one]));
  const targets = heads.flatMap((head) => head.targets);
  const answers = await askServers(
    targets.filter(({ required }) => required),
    new Set(names),
  );
  return read.map((one): RingHealth => {
    if ('judged' in one) return one;
    const { ring, id } = one;
    const judged = troublesOfRing(one, answers, context.nowMs());
    return { ring: ring.keyspace, version: ring.version, id, judged, troubles: judged.troubles };
  });
}

async function readHead(context: Context, name: string): Promise<RingHealth | JudgedHead> {
  const unasked = { ring: name, judged: null, troubles: [] };
  try {
    const { entries } = await openRing(context.rings, name);
    const head = headOf(entries);
    if (head === null) return { ...unasked, version: null, id: null };
    return await judgedHead(context, await readVersion(context.rings, name, 'head'), entries);
  } catch (error) {
    const { code, message } = codedOrDisk(error);
    const trouble = {
      ...{ ring: name, address: null, why: `${code}: ${message}` },
      // Who may not read the folder cannot verify it either.
      command: code === 'DISK_FAILED' ? 'list' : `verify ${name}`,
    };
    const troubles = [{ ...trouble, kind: 'unreadable' as const }];
    return { ...unasked, version: null, id: null, troubles };
  }
}
