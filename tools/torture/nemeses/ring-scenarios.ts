// Scenarios of ring changes that are too rare at random. Each ends with the ring as it began, or
// throws with the violation.
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { askRecord } from '../../../test/support/ask-record.ts';
import { Broken, lasts, type Nemesis, until } from '../nemesis.ts';
import { outside } from '../network.ts';
import { rollOut, startRollout } from '../rings/operator.ts';
import { proveRings } from '../rings/prove-rings.ts';
import { changeOf, commitChange, standingOf } from '../rings/ring-changes.ts';
import { keyspace, type Stage } from '../stage.ts';
import type { Victim } from '../victim.ts';

const SERVERS_IN_RING = 4;
/** Keys that are written on one side of a split and read on the other. */
const PROBES = 40;
const PROBE_PAUSE_MS = 1_000;
/** Enough for a joiner to stop asking devices that do not answer. */
const TAKEOVER_ROUNDS = 8;

/**
 * One server joins while a holder is down: no device may drop what that holder has not confirmed.
 */
export const absentHolder = ringScenario('a holder that is away', async (stage, [away, joiner]) => {
  const before = await stage.head();
  await stage.fault('rings: holder away', [away], async () => {
    await away.end('kill');
    await commitChange(stage, { name: 'joins' }, [['add', joiner.text, '1']]);
    await startRollout(stage, ['--skip-down']).ended;
    const after = await stage.head();
    const dropped = droppedWithout(stage, away, { before, after });
    await away.start();
    if (dropped.length > 0) throw new Broken(`dropped too early: ${dropped.join('; ')}`);
  });
});

/** A network split while slots are in flight. */
export const splitInFlight = ringScenario('a split in mid-move', async (stage, [, joiner]) => {
  await initialize(stage, joiner);
  const ring = await stage.head();
  await stage.fault('rings: split in flight', [], async () => {
    const source = stage.victimOf(ring, ring.moves[0]?.from ?? 0);
    await probeSides(stage, [source, joiner], 1);
  });
});

/** A network split before the other side knows the ring that names the joiners. */
export const splitTakeover = ringScenario(
  'a split at the takeover',
  async (stage, [, joiner], signal) => {
    await initialize(stage, joiner);
    const ring = await stage.head();
    const { partition = 0, from = null } = ring.moves[0] ?? {};
    const stayer = slotsOf(ring, partition).find(({ device }) => device !== from)?.device ?? 0;
    const side = [stage.victimOf(ring, stayer), joiner];
    await stage.fault('rings: split at takeover', [], async () => {
      const rest = stage.victims.filter((victim) => !side.includes(victim));
      for (const { place } of rest) stage.network.rule(outside, place.number, { held: true });
      separate(stage, side, rest);
      await using _ = startRollout(stage, ['--skip-down', '--step']);
      await until(signal, async () => {
        const versions = await Promise.all(side.map(versionOn));
        return versions.every((version) => version > ring.version);
      });
      await probeSides(stage, side, TAKEOVER_ROUNDS);
    });
  },
);

/** Only splits and merges, one after the other, under the present load. */
export const splitsAndMerges: Nemesis = {
  name: 'splits and merges',
  async strike(stage, random) {
    const ringState = await standingOf(stage);
    const kind = random.below(2) === 0 ? 'merge' : 'split';
    const name = changeOf(kind).isPossible(ringState) ? kind : 'split';
    await stage.fault(`rings: ${name}`, [], async () => {
      await commitChange(stage, { name }, changeOf(name).commands(ringState, random));
      await rollOut(stage);
    });
  },
  prove: proveRings,
};

function ringScenario(
  name: string,
  play: (stage: Stage, found: Cast, signal: AbortSignal) => Promise<void>,
): Nemesis {
  const strike: Nemesis['strike'] = async (stage, _random, signal) => {
    const found = await cast(stage, signal);
    if (found === null) return;
    await play(stage, found, signal);
    await leave(stage, found[1]);
  };
  return { name, strike, prove: proveRings };
}

type Cast = readonly [first: Victim, joiner: Victim];

/** Sets up a ring of four servers. Returns the first and a future joiner; null when time is up. */
async function cast(stage: Stage, signal: AbortSignal): Promise<Cast | null> {
  while (stage.victims.length <= SERVERS_IN_RING) await stage.addVictim();
  const ring = await stage.head();
  const missing = stage.victims.filter((victim) => victim.idIn(ring) === -1);
  const joiner = missing.pop();
  for (const victim of missing) {
    await commitChange(stage, { name: 'fills up' }, [['add', victim.text, '1']]);
  }
  if (missing.length > 0) await rollOut(stage);
  const [first] = stage.victims;
  if (first === undefined || joiner === undefined || signal.aborted) return null;
  return [first, joiner];
}

/** Lets the joiner load all of its partitions; the table does not name it yet. */
async function initialize(stage: Stage, joiner: Victim): Promise<void> {
  await commitChange(stage, { name: 'joins' }, [['add', joiner.text, '1']]);
  await startRollout(stage, ['--step']).ended;
  await until(AbortSignal.timeout(60_000), () => isLoaded(stage));
}

/** Whether every joiner has all of its partitions. */
export async function isLoaded(stage: Stage): Promise<boolean> {
  const args = ['moves', keyspace, 'list'];
  const { moves } = await stage.builder.json<{ moves: { stage: string }[] }>(args);
  return moves.every((move) => move.stage === 'available');
}

/** Removes the joiner from the ring again, whatever was in flight. */
export async function leave(stage: Stage, joiner: Victim): Promise<void> {
  await rollOut(stage);
  const id = joiner.idIn(await stage.head());
  if (id === -1) return;
  await commitChange(stage, { name: 'leaves' }, [['remove', `d${id}`]]);
  await rollOut(stage);
}

function separate(stage: Stage, some: readonly Victim[], others: readonly Victim[]): void {
  for (const { place: one } of some) {
    for (const { place: other } of others) stage.network.separate(one.number, other.number);
  }
}

/** What one side acknowledges at quorum, no quorum on the other side may miss. */
async function probeSides(stage: Stage, side: readonly Victim[], rounds: number): Promise<void> {
  const rest = stage.victims.filter((victim) => !side.includes(victim));
  separate(stage, side, rest);
  try {
    for (let round = 0; round < rounds; round += 1) {
      const keys = Array.from({ length: PROBES }, (_, number) => `split/${round}/${number}`);
      const missed = await Promise.all(
        keys.map((key, number) => {
          const writer = side[number % side.length] ?? side[0];
          const reader = rest[number % rest.length] ?? rest[0];
          return isMissed({ key, writer, reader });
        }),
      );
      const lost = keys.filter((_, index) => missed[index]);
      if (lost.length > 0) throw new Broken(`lost ack across a split: ${lost.join(', ')}`);
      await lasts(PROBE_PAUSE_MS, AbortSignal.timeout(PROBE_PAUSE_MS));
    }
  } finally {
    stage.network.heal();
  }
}

interface Probe {
  readonly key: string;
  readonly writer: Victim | undefined;
  readonly reader: Victim | undefined;
}

/** Whether a record acknowledged through one server is not found through the other. */
async function isMissed({ key, writer, reader }: Probe): Promise<boolean> {
  if (writer === undefined || reader === undefined) return false;
  const value = `probe ${key} ${performance.now()}`;
  const record = { key, keyspace, value };
  const write = { ...record, kind: 'write', port: writer.place.port } as const;
  if ((await askRecord(write)).outcome !== 'acked') return false;
  const answer = await askRecord({ ...record, kind: 'read', value: null, port: reader.place.port });
  return answer.outcome === 'acked' && answer.value !== value;
}

/** Returns the partitions that a former holder dropped although the absent holder needs them. */
function droppedWithout(
  stage: Stage,
  away: Victim,
  { before, after }: { readonly before: Ring; readonly after: Ring },
): string[] {
  return stage.victims.flatMap((victim) => {
    const held = victim.partitions();
    const isHolder = (one: Victim, ring: Ring, partition: number): boolean =>
      slotsOf(ring, partition).some(({ device }) => device === one.idIn(ring));
    return Array.from({ length: after.partitions }, (_, partition) => partition)
      .filter((partition) => {
        const isGone = isHolder(victim, before, partition) && !isHolder(victim, after, partition);
        return isGone && isHolder(away, after, partition) && !held.includes(partition);
      })
      .map((partition) => `partition ${partition} by ${victim.name} without ${away.name}`);
  });
}

async function versionOn({ server }: Victim): Promise<number> {
  const { rings } = await server.status();
  return rings.find((ring) => ring.ring === keyspace)?.version ?? 0;
}
