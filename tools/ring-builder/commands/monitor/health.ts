// ring-builder health: all rings on one screen, and what is wrong with them on their servers.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { requireRings } from '@ringwright/repository/folder/list-rings';
import { requireRing } from '@ringwright/repository/folder/require-ring';
import { type Rotation, waitingRoot } from '@ringwright/repository/rotate-trust';
import type { Command, Context, Lines } from '../../cli/command.ts';
import { checkRings, type RingHealth } from '../../health/check-rings.ts';
import { byWeight, exitOf, hintsOf, type Trouble } from '../../health/trouble.ts';
import { type OlderServer, olderLines } from '../../servers/older-servers.ts';
import { newerLines } from '../../versions/newer-components.ts';

/** --json lists all troubles. */
const TROUBLES_SHOWN_MAX = 50;
const ADDRESSES_SHOWN_MAX = 3;

export const command: Command = {
  positionals: { ring: { describe: 'only this ring (default: all rings of the folder)' } },
  examples: [
    [
      '$0 health',
      'exit code 0: all is well, 1: something is wrong or there is no ring, 4: only servers are down',
    ],
    ['$0 health cities --json', 'for monitoring: every problem with its kind, server and command'],
  ],
  run: async (args, context) => {
    const rings = await checkRings(context, await chosen(context, args.optionalText('ring')));
    const troubles = byWeight(rings.flatMap((one) => one.troubles));
    const groups = grouped(troubles);
    const waiting = await waitingRoot(context.rings).catch(() => null); // key trust reports why
    // A folder without rings is not well: it is the wrong one, or its rings are lost.
    const isWell = rings.length > 0 && troubles.length === 0;
    return {
      json: {
        ok: isWell,
        rings: rings.map(({ judged, troubles: { length }, follow, components: _of, ...ring }) => {
          const [asked, given] = [judged !== null, judged?.given ?? false];
          const next = follow && context.next(follow);
          return { ...ring, ...counts(judged), asked, given, troubles: length, follow: next };
        }),
        troubles: troubles.map((one) => ({ ...one, command: context.next(one.command) })),
        older: olderOf(rings),
        waitingRoot: waiting?.root.version ?? null,
      },
      lines: [
        headline(rings, groups),
        ...(rings.length === 0 ? [] : ['', ...ringsTable(rings)]),
        ...(groups.length === 0 ? [] : ['', ...troublesTable(context, groups)]),
        ...hintsOf(troubles).slice(0, TROUBLES_SHOWN_MAX),
        // A composite ring behind its components is served as before, so it is no trouble.
        ...rings.flatMap((one) => newerLines(context, one).map((line) => `${one.ring}: ${line}`)),
        ...olderLines(olderOf(rings)),
        waiting !== null && waitingLine(context, waiting),
      ],
      next: context.next(nextCommand(rings, troubles)),
      exit: isWell ? 0 : exitOf(troubles) || 1,
    };
  },
};

async function chosen(context: Context, ring: string | undefined): Promise<readonly string[]> {
  if (ring === undefined) return requireRings(context.rings);
  await requireRing(context.rings, ring);
  return [ring];
}

const noCounts = { servers: 0, reached: 0, current: 0, inFlight: 0, paused: 0 };

function counts(judged: RingHealth['judged']): typeof noCounts {
  if (judged === null) return noCounts;
  const { servers, reached, current, inFlight, paused } = judged;
  return { servers, reached, current, inFlight, paused };
}

/** Counts troubles by rows of the table; --json has one for each server. */
function headline(rings: readonly RingHealth[], groups: readonly Group[]): string {
  if (rings.length === 0) return 'there are no rings here';
  const all = counted(rings.length, 'ring');
  if (groups.length > 0) {
    const troubledCount = new Set(groups.map(({ ring }) => ring)).size;
    const servers = new Set(groups.flatMap(({ addresses }) => addresses)).size;
    const where = servers === 0 ? '' : ` on ${counted(servers, 'server')}`;
    return `${counted(groups.length, 'problem')}${where}, with ${troubledCount} of ${all}`;
  }
  const isGiven = rings.some(({ judged }) => judged?.given === true);
  return !isGiven ? `${all}; none was pushed to a server yet` : `${all}: all is well`;
}

function nextCommand(rings: readonly RingHealth[], [worst]: readonly Trouble[]): string {
  if (worst !== undefined) return worst.command;
  const behind = rings.find(({ follow }) => follow !== null);
  if (behind?.follow) return behind.follow;
  // Components need no push: the ring composed of them goes to the servers.
  const parts = new Set(rings.flatMap(({ components }) => components));
  const unpushed = rings.find(({ ring, judged }) => judged?.given === false && !parts.has(ring));
  if (unpushed !== undefined) return unpushed.judged?.first ?? `push ${unpushed.ring}`;
  const begun = rings.find(({ version, troubles }) => version === null && troubles.length === 0);
  if (begun !== undefined) return `status ${begun.ring}`;
  return rings.length === 0 ? 'create RING --partition-power 8 --replicas 3' : 'list';
}

/** Returns each server once, regardless of the number of its rings. */
function olderOf(rings: readonly RingHealth[]): OlderServer[] {
  const all = rings.flatMap(({ judged }) => judged?.older ?? []);
  return [...new Map(all.map((one) => [one.address, one])).values()];
}

function ringsTable(rings: readonly RingHealth[]): string[] {
  const countText = ({ judged }: RingHealth, count: 'reached' | 'current'): string =>
    judged?.given !== true ? '-' : `${judged[count]} of ${judged.servers}`;
  return printTable(rings, [
    { head: 'RING', cell: ({ ring }) => ring },
    { head: 'VERSION', cell: ({ version }) => version ?? '-' },
    { head: 'SERVERS UP', cell: (one) => countText(one, 'reached') },
    { head: 'ACTIVE ON', cell: (one) => countText(one, 'current') },
    { head: 'MOVES', cell: ({ judged }) => judged?.inFlight ?? '-' },
    { head: 'STATE', cell: stateOf },
  ]);
}

function stateOf({ judged, troubles, newer }: RingHealth): string {
  if (troubles.length > 0) return [...new Set(troubles.map(({ kind }) => kind))].join(', ');
  if (judged === null) return 'no version yet';
  if (!judged.given) return judged.first === null ? 'never pushed' : 'never pushed, unsigned';
  const paused = judged.paused > 0 ? `ok, ${counted(judged.paused, 'move')} paused` : 'ok';
  return newer.length > 0 ? `${paused}, to be composed again` : paused;
}

/** Signatures may take days to collect: a line, but no trouble. */
function waitingLine(context: Context, { root, unsigned }: Rotation): string {
  const why = `it lacks signatures of ${unsigned.map(({ name }) => name).join(', ')}`;
  return `root of trust ${root.version} is pending: ${why}; ${context.next('key trust')} shows it`;
}

interface Group extends Trouble {
  readonly addresses: readonly string[];
}

/** Puts servers with the same trouble into one row. The reason may repeat the address. */
function grouped(troubles: readonly Trouble[]): Group[] {
  const groups = new Map<string, Group>();
  for (const one of troubles) {
    const why = one.address === null ? one.why : withoutAddress(one.why, one.address);
    const key = JSON.stringify([one.ring, one.kind, why]);
    const known = groups.get(key);
    const addresses = [...(known?.addresses ?? []), ...(one.address === null ? [] : [one.address])];
    groups.set(key, { ...one, why, addresses });
  }
  return [...groups.values()];
}

function withoutAddress(why: string, address: string): string {
  const [before = '', ...after] = why.split(address);
  const rest = after.map((text) => text.trimEnd()).join('');
  return after.length === 0 ? why : `${before}it${rest}`;
}

function troublesTable(context: Context, groups: readonly Group[]): Lines {
  const hidden = groups.length - TROUBLES_SHOWN_MAX;
  return [
    ...printTable(groups.slice(0, TROUBLES_SHOWN_MAX), [
      { head: 'RING', cell: ({ ring }) => ring },
      { head: 'TROUBLE', cell: ({ kind }) => kind },
      { head: 'SERVER', cell: serversOf },
      { head: 'WHY', cell: ({ why }) => why },
      { head: 'COMMAND', cell: ({ command }) => context.next(command) },
    ]),
    hidden > 0 && `… and ${hidden} more: --json lists them`,
  ];
}

function serversOf({ addresses }: Group): string {
  if (addresses.length === 0) return '-';
  const more = addresses.length - ADDRESSES_SHOWN_MAX;
  const shown = addresses.slice(0, ADDRESSES_SHOWN_MAX).join(' ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
