// Checks the health of rings. In one look each ring is read once, and each server is asked once for
// all its rings.
import { codedOrDisk } from '@ringwright/base/disk-error';
import { headOf } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import type { Context } from '../cli/command.ts';
import { hasNewerHead } from '../moves/head-watch.ts';
import { askServers } from '../servers/ask-servers.ts';
import { type Newer, newerComponents } from '../versions/newer-components.ts';
import type { ReferenceHead } from './reference-head.ts';
import { judgedHead } from './reference-head.ts';
import { type JudgedRing, troublesOfRing } from './ring-troubles.ts';
import type { Trouble } from './trouble.ts';

export interface RingHealth extends Newer {
  readonly ring: string;
  readonly version: number | null;
  readonly id: string | null;
  /** Its components, for a composite ring. */
  readonly components: readonly string[];
  /** Null if no server was asked, because the ring has no version or cannot be read. */
  readonly judged: JudgedRing | null;
  readonly troubles: readonly Trouble[];
}

interface ReadHead extends Newer, Pick<RingHealth, 'components'> {
  readonly head: ReferenceHead;
}

/** Looks at most, if heads move while the servers answer, as during a rollout. */
const LOOKS_MAX = 3;

/** A ring as it was judged. `id`: of its head; null if it has none or cannot be read. */
type Looked = Pick<RingHealth, 'ring' | 'id' | 'troubles'>;

export function checkRings(
  context: Context,
  names: readonly string[],
): Promise<readonly RingHealth[]> {
  return untilHeadsRest(context, () => lookAt(context, names));
}

/**
 * Looks again if a ring with troubles has another head by now, here or in the store: the servers
 * may have that one.
 */
export async function untilHeadsRest<One extends Looked>(
  context: Context,
  look: () => Promise<readonly One[]>,
): Promise<readonly One[]> {
  for (let looks = 1; ; looks += 1) {
    const judged = await look();
    const troubled = judged.flatMap(({ ring, id, troubles }) =>
      id === null || troubles.length === 0 ? [] : [{ ring, id }],
    );
    const moved = await Promise.all(troubled.map((one) => hasNewerHead(context, one)));
    if (looks === LOOKS_MAX || !moved.includes(true)) return judged;
  }
}

async function lookAt(context: Context, names: readonly string[]): Promise<readonly RingHealth[]> {
  const read: (RingHealth | ReadHead)[] = [];
  for (const name of names) read.push(await readHead(context, name));
  const heads = read.flatMap((one) => ('judged' in one ? [] : [one.head]));
  const targets = heads.flatMap(({ ring, targets: all }) =>
    // Removed servers may be sources of moves.
    all.filter(({ required }) => required || ring.moves.length > 0),
  );
  const answers = await askServers(targets, new Set(names));
  return read.map((one): RingHealth => {
    if ('judged' in one) return one;
    const { head, ...rest } = one;
    const { ring, id } = head;
    const judged = troublesOfRing(head, answers, context.nowMs());
    const { keyspace, version } = ring;
    return { ring: keyspace, version, id, judged, troubles: judged.troubles, ...rest };
  });
}

async function readHead(context: Context, name: string): Promise<RingHealth | ReadHead> {
  const emptyHealth = {
    ring: name,
    judged: null,
    troubles: [],
    components: [],
    newer: [],
    follow: null,
  };
  try {
    const { entries, state: builder } = await openRing(context.rings, name);
    const head = headOf(entries);
    if (head === null) return { ...emptyHealth, version: null, id: null };
    const stored = await readVersion(context.rings, name, 'head');
    return {
      head: await judgedHead(context, stored, entries),
      components: builder.components?.map(({ ring }) => ring) ?? [],
      ...(await newerComponents(context.rings, builder)),
    };
  } catch (error) {
    const { code, message } = codedOrDisk(error);
    const trouble = {
      ...{ ring: name, address: null, why: `${code}: ${message}` },
      // Without permission to read the folder, verify would fail too.
      command: code === 'DISK_FAILED' ? 'list' : `verify ${name}`,
    };
    const troubles = [{ ...trouble, kind: 'unreadable' as const }];
    return { ...emptyHealth, version: null, id: null, troubles };
  }
}
