// Scenarios of a single move: three servers have a ring, and a fourth takes over one partition.
import { must } from '@ringwright/base/assert';
import { seededRandom } from '@ringwright/base/random';
import { checkStore } from '@ringwright/partition/audit/check-store';
import type { Move } from '@ringwright/ring/move';
import { slotsOf } from '@ringwright/ring/slots-of';
import { askServer } from '../../../test/support/ask-server.ts';
import { isAcked } from '../../../test/support/history.ts';
import { CopyFault } from '../copy-fault.ts';
import { isLoaded, leave } from '../nemeses/ring-scenarios.ts';
import { Broken, lasts, type Nemesis, until } from '../nemesis.ts';
import { outside } from '../network.ts';
import { startRollout, type } from '../rings/operator.ts';
import { proveRings } from '../rings/prove-rings.ts';
import { readReceipts, receiptFaults } from '../rings/receipts.ts';
import { commitChange } from '../rings/ring-changes.ts';
import { keyspace } from '../stage.ts';
import type { Victim } from '../victim.ts';
import { isText, keysOf, Scenario } from './scenario.ts';

const SERVERS = 4;
const STEP_MS_MAX = 30_000;
/** A file is usually dropped within a second or two. */
const DROP_MS_MAX = 10_000;
/** Shorter than a coordinator's timeout, and much longer than a write takes to arrive. */
const STORED_MS = 1_000;

/** The partition of a move, and its participants. */
interface MoveScenario {
  readonly scenario: Scenario;
  readonly move: Move;
  readonly joiner: Victim;
  readonly source: Victim;
  /** The two holders that stay. */
  readonly stays: readonly [Victim, Victim];
}

/** Without faults: the receipt names the right sources, and the old file is dropped. */
export const plainJoin = scenarioOfMove('a join', async ({ scenario, source, move }) => {
  const { stage, signal } = scenario;
  await startRollout(stage).ended;
  const faults = receiptFaults(readReceipts(stage));
  if (faults.length > 0) throw new Broken(faults.join('; '));
  await requireGone(signal, source, { partition: move.partition, detail: ', which it gave up' });
});

/** A coordinator without a slot writes to all holders: they store it, but all answers are lost. */
export const lostAnswers = scenarioOfMove('answers that are lost', async (parts) => {
  const { scenario, joiner, source, stays } = parts;
  const { network } = scenario.stage;
  await startRollout(scenario.stage).ended;
  const holders = [joiner, ...stays];
  for (const { place } of holders) network.rule(place.number, source.place.number, { held: true });
  const writes = scenario.askAll(source, { text: 'unanswered' });
  await lasts(STORED_MS, scenario.signal);
  for (const { place } of holders) network.cutCalls(source.place.number, place.number);
  await writes;
  network.heal();
  const [near] = stays;
  await scenario.askUntil(near, { level: 'all' }, { isSo: isAcked, withinMs: STEP_MS_MAX });
});

/** A coordinator that does not know of the takeover asks one holder that does. */
export const staleCoordinator = scenarioOfMove('an old ring after a takeover', async (parts) => {
  const { scenario, joiner, source, stays, move } = parts;
  const { stage } = scenario;
  const [near, far] = stays;
  await initialized(parts);
  await scenario.askAll(near, { text: 'before', level: 'all' });
  scenario.hold([near, source], [far, source], [joiner, source]);
  stage.network.rule(outside, source.place.number, { held: true });
  await using _ = startRollout(stage, ['--skip-down', '--step']);
  await until(scenario.signal, () => serves(joiner, move.partition), STEP_MS_MAX);
  scenario.hold([near, far], [joiner, far]);
  await scenario.askAll(near, { text: 'after' });
  scenario.hold([source, near]);
  await scenario.askAll(source, {});
});

/** Records that reach the joiner while the copy is in transit. */
export const writtenMeanwhile = scenarioOfMove('writes during a copy', async (parts) => {
  const { scenario, joiner, source, stays, move } = parts;
  const { network } = scenario.stage;
  const [near, far] = stays;
  const stall = new CopyFault({ how: 'stall', place: 'head' }, seededRandom(1));
  network.harmCopies(joiner.place.number, stall);
  await startRollout(scenario.stage, ['--step']).ended;
  await until(scenario.signal, () => stall.isFired, STEP_MS_MAX);
  scenario.hold([near, far], [source, far]);
  await scenario.askAll(near, { text: 'after' });
  scenario.hold([near, joiner], [source, joiner]);
  network.harmCopies(joiner.place.number, null);
  await until(scenario.signal, () => isLoaded(scenario.stage), STEP_MS_MAX);
  await using _ = startRollout(scenario.stage, ['--step']);
  await until(scenario.signal, () => serves(joiner, move.partition), STEP_MS_MAX);
  scenario.hold([joiner, near]);
  await scenario.askAll(joiner, {});
});

/**
 * Records that only the leaving device can still give to a holder: they must be there before its
 * file is dropped. The keys are new, so the holder's last rows do not contain them.
 */
export const lackedByHolder = scenarioOfMove('a drain of what a holder lacks', async (parts) => {
  const { scenario, joiner, source, stays, move } = parts;
  const { stage, signal } = scenario;
  const [near, far] = stays;
  await initialized(parts);
  const { partition } = move;
  const keys = keysOf(await stage.head(), { play: stage.history.length, partition });
  const fresh = new Scenario(stage, keys, signal);
  scenario.hold([near, far], [source, far], [joiner, far]);
  await fresh.askAll(near, { text: 'after' });
  await using _ = startRollout(stage, ['--skip-down', '--step']);
  await until(signal, () => serves(joiner, partition), STEP_MS_MAX);
  scenario.lose([source, far]);
  scenario.release([source, far]);
  const isKept = (): boolean => source.partitions().includes(partition);
  await until(signal, () => !isKept(), STEP_MS_MAX);
  const held = await fresh.askAll(far, { level: 'one' });
  if (isKept() || signal.aborted) return;
  const lacking = held.filter((read) => !isText('after')(read)).map(({ key }) => key);
  if (lacking.length === 0) return;
  throw new Broken(`dropped too early: ${source.name} let ${far.name} without ${lacking.join()}`);
});

/** A copy with a flipped bit in a value must never be adopted. */
export const flippedCopy = scenarioOfMove('a flipped bit in a copy', async (parts) => {
  const { scenario, joiner, source } = parts;
  const { network } = scenario.stage;
  // SQLite ends a WAL before a flipped bit. After a clean stop, everything is in the file itself.
  await source.end('stop');
  await source.start();
  const flip = new CopyFault({ how: 'flip', place: 'values' }, seededRandom(1));
  network.harmCopies(joiner.place.number, flip);
  await initialized(parts);
  network.harmCopies(joiner.place.number, null);
  if (flip.isFired) await checkTaken(parts);
});

/** The adopted file must be the requested one, not another file of the source. */
export const checkedJoin = scenarioOfMove('a join, checked', async (parts) => {
  const { scenario, source, move } = parts;
  const { stage, signal } = scenario;
  const ring = await stage.head();
  const choice = { play: stage.history.length, partition: (move.partition + 1) % ring.partitions };
  await new Scenario(stage, keysOf(ring, choice), signal).askAll(source, { text: 'elsewhere' });
  await initialized(parts);
  await checkTaken(parts);
});

/** A power cut right after the switch to a copy must leave a usable file. */
export const adoptedThenCut = scenarioOfMove('a power cut after a copy', async (parts) => {
  const { scenario, joiner } = parts;
  const before = joiner.fired().length;
  joiner.set({ walShare: 0, failpoint: { name: 'copy-in.switched', action: 'cut', passes: 0 } });
  await using _ = startRollout(scenario.stage, ['--step']);
  await until(scenario.signal, () => joiner.fired().length > before, STEP_MS_MAX);
  joiner.set({ failpoint: null });
  await until(scenario.signal, () => isLoaded(scenario.stage), STEP_MS_MAX);
  const damage = /damaged file replaced.*/.exec(joiner.server.logText());
  if (damage !== null) throw new Broken(`damaged copy: ${joiner.name} says ${damage[0]}`);
});

/** A joiner whose move is cancelled must drop its copy. */
export const cancelledJoin = scenarioOfMove('a join that is cancelled', async (parts) => {
  const { scenario, joiner } = parts;
  const { stage, signal } = scenario;
  await initialized(parts);
  await type(stage, 'moves', 'cancel', 'all');
  await type(stage, 'push');
  await requireGone(signal, joiner, { detail: ' of a cancelled move' });
});

/**
 * Makes a scenario: a partition is on its way to a joiner in a committed ring. In the end the
 * joiner leaves the ring.
 */
function scenarioOfMove(name: string, play: (parts: MoveScenario) => Promise<void>): Nemesis {
  return {
    name,
    isAlone: true,
    async strike(stage, _random, signal) {
      while (stage.victims.length < SERVERS) await stage.addVictim();
      const joiner = must(stage.victims.at(-1), 'servers');
      // Beside three devices of weight 1, this gives a share slightly above one slot.
      const weight = (1.1 / stage.shape.partitions).toFixed(3);
      await commitChange(stage, { name: 'joins' }, [['add', joiner.text, weight]]);
      await type(stage, 'push');
      const ring = await stage.head();
      const move = must(ring.moves[0], 'a device that joins gets a partition');
      const { partition } = move;
      const source = stage.victimOf(ring, move.from ?? 0);
      const holders = slotsOf(ring, partition).map(({ device }) => stage.victimOf(ring, device));
      const [one, other] = holders.filter((holder) => holder !== source);
      const stays = [must(one, 'a holder'), must(other, 'a second one')] as const;
      const keys = keysOf(ring, { play: stage.history.length, partition });
      const scenario = new Scenario(stage, keys, signal);
      await scenario.askAll(source, { text: 'first', level: 'all' });
      const parts = { scenario, move, joiner, source, stays };
      if (!signal.aborted) await stage.fault(`scenario: ${name}`, [], () => play(parts));
      stage.network.heal();
      if (!signal.aborted) await leave(stage, joiner);
    },
    prove: proveRings,
  };
}

/** Waits until the joiner has loaded the partition; the table does not name it yet. */
async function initialized({ scenario }: MoveScenario): Promise<void> {
  await startRollout(scenario.stage, ['--step']).ended;
  await until(scenario.signal, () => isLoaded(scenario.stage), STEP_MS_MAX);
}

/** Throws when the server keeps a partition that it must drop. Without `partition`: any. */
async function requireGone(
  signal: AbortSignal,
  victim: Victim,
  { partition, detail }: { readonly partition?: number; readonly detail: string },
): Promise<void> {
  const partitionsLeft = (): number[] =>
    victim.partitions().filter((one) => partition === undefined || one === partition);
  await until(signal, () => partitionsLeft().length === 0, DROP_MS_MAX);
  if (partitionsLeft().length === 0 || signal.aborted) return;
  throw new Broken(`orphan: ${victim.name} keeps partition ${partitionsLeft().join()}${detail}`);
}

async function checkTaken({ joiner }: MoveScenario): Promise<void> {
  await joiner.end('stop');
  const [finding] = await checkStore(joiner.server.place.data);
  await joiner.start();
  if (finding === undefined) return;
  throw new Broken(`damaged copy: ${joiner.name} has ${finding.code} in a file that it took`);
}

async function serves({ place }: Victim, partition: number): Promise<boolean> {
  const { bytes } = await askServer(place.port, { path: `/v1/duty/${keyspace}/${partition}` });
  const { here } = JSON.parse(bytes.toString()) as Duty;
  return here?.duty === 'SERVE' && here.file?.state === 'ready';
}

interface Duty {
  readonly here: { readonly duty: string; readonly file: { readonly state: string } | null } | null;
}
