// ring-builder push: sends a version to the servers of its ring and shows what each answered.
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { formatAddress } from '@ringwright/base/server-address';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import type { Ring } from '@ringwright/ring/ring';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  listOption,
  textOption,
} from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { adviceContextOf } from '../../health/advice-context.ts';
import { adviceOn } from '../../servers/advice.ts';
import type { Advice } from '../../servers/advice-rule.ts';
import { askTargets } from '../../servers/ask-servers.ts';
import { notReadyText } from '../../servers/not-ready.ts';
import {
  accepted,
  type PushOutcome,
  serverFailuresOf,
  skipped,
} from '../../servers/push-to-targets.ts';
import {
  gatewayGrant,
  refusedGateways,
  refusedGatewaysLine,
} from '../../servers/refused-gateways.ts';
import { ringTargets, type Target, withFurther } from '../../servers/ring-targets.ts';
import { serversAtOnceMax } from '../../servers/server-connection.ts';
import { waitUntil } from '../../servers/wait-until.ts';
import { beaconMinutes, trustToGive } from '../../versions/sign-beacon.ts';
import { askedVersion } from '../../versions/version-reference.ts';
import { pushAndNote } from './push-and-note.ts';

/**
 * The files of a new ring are opened within this time. A device that refills may take longer and is
 * reported.
 */
const READY_WAIT_MS = 15_000;

/** How many servers a push waits for: all, a majority of every partition, or one whole zone. */
const waitRules = ['all', 'quorum', 'zone'] as const;
export type WaitRule = (typeof waitRules)[number];

export const command: Command = {
  options: {
    to: listOption('more servers (IP:PORT) to send the ring to'),
    wait: textOption('wait for all servers, a majority of every partition, or one whole zone', {
      choices: waitRules,
      default: 'all',
    }),
    canary: textOption(
      'number of servers to push to first; the others follow once these are ready',
    ),
    'keep-going': flagOption(
      `continue after a server refuses; by default push stops after the ${serversAtOnceMax} it sends to at once`,
    ),
  },
  examples: [
    ['$0 push cities', 'send the head to every server of the ring'],
    ['$0 push cities --to 10.0.0.9:6200', 'also to a server outside the ring, such as a gateway'],
    ['$0 push cities --canary 2', 'to two servers, then to the others once those are ready'],
  ],
  run: async (args, context) => {
    const version = await askedVersion(args, context);
    const named = ringTargets(version.ring, version.state);
    const targets = withFurther(named, args.texts('to'));
    const options = {
      wait: args.chosen('wait', waitRules),
      canaries: args.optionalNumber('canary') ?? 0,
      keepGoing: args.flag('keep-going'),
    };
    const pushed = await pushInSteps(context, version, { targets, how: options });
    const failures = serverFailuresOf(pushed.servers);
    const advice = adviceOn(await adviceContextOf(context, version), failures);
    const trust = await trustToGive(context, version);
    const isVouched = trust !== null && trust.beacons.length > 0;
    const outside = accepted(pushed.servers).filter(({ devices }) => devices.length === 0);
    const unheard = await refusedGateways(outside, version.ring.keyspace);
    return pushAnswer(context, version, { ...pushed, advice, isVouched, unheard });
  },
};

interface How {
  readonly wait: WaitRule;
  readonly canaries: number;
  readonly keepGoing: boolean;
}

interface Pushed {
  readonly wait: WaitRule;
  readonly servers: readonly PushOutcome[];
  /** What is not ready and why; empty if everything that --wait requires is ready. */
  readonly notReady: string;
  /** Whether as many servers as --wait requires have the version. */
  readonly enough: boolean;
  /** Canaries failed, so the other servers were not asked. */
  readonly canariesFailed: boolean;
}

/** Pushes to the canaries, then to the others if all canaries accepted and are ready. */
async function pushInSteps(
  context: Context,
  version: StoredVersion,
  { targets, how: options }: { readonly targets: readonly Target[]; readonly how: How },
): Promise<Pushed> {
  const { wait, canaries, keepGoing } = options;
  const { tell } = context;
  const [first, rest] = [targets.slice(0, canaries), targets.slice(canaries)];
  const step = { keepGoing, tell, all: targets.length };
  const tried =
    canaries > 0 ? await pushAndNote(context, version, { ...step, targets: first }) : [];
  const allTook = tried.every(({ outcome }) => outcome === 'accepted');
  const canary = { servers: tried, wait: 'all' } as const;
  const canaryReason = allTook ? await waitReady(context, version, canary) : '';
  const areWell = allTook && canaryReason === '';
  const others = areWell
    ? await pushAndNote(context, version, { ...step, targets: rest, before: tried.length })
    : rest.map(skipped);
  const servers = [...tried, ...others];
  const notReady = areWell ? await waitReady(context, version, { servers, wait }) : canaryReason;
  const good = new Set(accepted(servers).map(({ address }) => address));
  const enough = isEnough(wait, version.ring, { good, targets });
  return { wait, servers, notReady, enough, canariesFailed: !areWell };
}

/**
 * Waits until the servers that accepted are ready. Returns what is not ready and why; empty if
 * enough is ready.
 */
async function waitReady(
  context: Context,
  { ring }: StoredVersion,
  { servers, wait }: Pick<Pushed, 'servers' | 'wait'>,
): Promise<string> {
  const deviceServers = accepted(servers).filter(({ devices }) => devices.length > 0);
  const { answer, done } = await waitUntil({
    ask: () => askTargets(ring.keyspace, deviceServers),
    isDone: (all) => {
      if (notReadyText(all) === '') return true;
      const good = new Set(
        all.filter((one) => notReadyText([one]) === '').map((one) => one.address),
      );
      return wait !== 'all' && isEnough(wait, ring, { good, targets: servers });
    },
    progressOf: notReadyText,
    stallMs: READY_WAIT_MS,
    nowMs: context.nowMs,
    tell: context.tell,
  });
  return done ? '' : notReadyText(answer);
}

function pushAnswer(
  context: Context,
  { ring, id }: StoredVersion,
  pushed: Pushed & {
    readonly advice: Advice | null;
    /** A beacon was sent along. */
    readonly isVouched: boolean;
    /** Servers outside the ring that accepted it, but whose requests its devices refuse. */
    readonly unheard: readonly string[];
  },
): Answer {
  const { servers, notReady, wait, enough, canariesFailed, unheard } = pushed;
  const ready = notReady === '' && !canariesFailed && unheard.length === 0;
  const count = (expected: string): number =>
    servers.filter(({ outcome, required }) => outcome === expected && required).length;
  const [accepts = 0, refused = 0, unreachable = 0, skips = 0] = outcomes.map(count);
  const { keyspace, version, moves } = ring;
  const failed = servers.filter(
    ({ outcome }) => outcome === 'refused' || outcome === 'unreachable',
  );
  const table = printTable(failed, [
    { head: 'SERVER', cell: ({ address }) => address },
    { head: 'ANSWER', cell: ({ outcome }) => outcome },
    { head: 'CODE', cell: ({ code }) => code ?? '' },
    { head: 'WHY', cell: ({ message }) => message ?? '' },
  ]);
  const head12 = id.slice(0, 12);
  const exit = exitOf(pushed, { refused, unreachable });
  const advice = exit === 0 ? null : pushed.advice;
  const why = canariesFailed
    ? 'not all canaries accepted and are ready'
    : 'a server refused (--keep-going pushes to them anyway)';
  return {
    json: {
      ...{ ring: keyspace, version, id, accepted: accepts, refused, unreachable, skipped: skips },
      ...{ ready, wait, enough, unheard, servers },
    },
    lines: [
      `${keyspace} version ${version} (${head12}): ${accepts} of ${counted(servers.length, 'server')} accepted`,
      ...sentLines(servers),
      ...(failed.length > 0 ? table : []),
      ...new Set(failed.flatMap(({ hint = [] }) => hint)),
      skips > 0 && `${counted(skips, 'server was', 'servers were')} not asked: ${why}`,
      notReady !== '' && notReady,
      unheard.length > 0 && refusedGatewaysLine(unheard, keyspace),
      pushed.isVouched && accepts > 0 && beaconLine(keyspace),
      advice?.text,
    ],
    next: context.next(
      advice?.command ?? nextCommand(pushed, { keyspace, inFlight: moves.length > 0 }),
    ),
    exit,
  };
}

function beaconLine(ring: string): string {
  const until = `the beacon is good for ${beaconMinutes} minutes`;
  return `${until}; after that, servers drop no files until ring-builder beacon ${ring} sends a new one`;
}

function sentLines(servers: readonly PushOutcome[]): string[] {
  const count = (form: string): number => servers.filter(({ sent }) => sent === form).length;
  const bytes = servers.reduce((sum, { bytesSent = 0 }) => sum + bytesSent, 0);
  if (bytes === 0) return [];
  const hadText = count('had') === 0 ? '' : `; ${count('had')} already had it`;
  const sent = `${counted(count('delta'), 'delta')}, ${counted(count('whole'), 'whole file')}`;
  return [`${printBytes(bytes)} sent: ${sent}${hadText}`];
}

const outcomes = ['accepted', 'refused', 'unreachable', 'skipped'] as const;

function nextCommand(
  { servers, unheard }: Pick<Pushed, 'servers'> & { readonly unheard: readonly string[] },
  { keyspace, inFlight }: { readonly keyspace: string; readonly inFlight: boolean },
): string {
  if (servers.some(({ outcome }) => outcome === 'skipped')) return `push ${keyspace}`;
  if (unheard.length > 0) return gatewayGrant(keyspace);
  return inFlight ? `rollout ${keyspace}` : `servers ${keyspace}`;
}

/** Unreachable servers are no failure if --wait is satisfied without them. */
function exitOf(
  { wait, enough, canariesFailed }: Pushed,
  { refused, unreachable }: { readonly refused: number; readonly unreachable: number },
): number {
  if (unreachable > 0 && (wait === 'all' || !enough)) return 4;
  if (refused > 0) return 5;
  return canariesFailed ? 4 : 0;
}

/** Whether the servers in `good` (addresses) satisfy the rule. */
export function isEnough(
  rule: WaitRule,
  ring: Ring,
  { good, targets }: { readonly good: ReadonlySet<string>; readonly targets: readonly Target[] },
): boolean {
  if (rule === 'all') {
    return targets.every(({ address, required }) => !required || good.has(address));
  }
  const isGood = ring.devices.map((device) => device !== null && good.has(formatAddress(device)));
  return rule === 'quorum' ? haveMajorities(ring, isGood) : hasWholeZone(ring, isGood);
}

/** Whether more than half of the slots of every partition are on good devices. */
function haveMajorities({ table, partitions }: Ring, isGood: readonly boolean[]): boolean {
  for (let partition = 0; partition < partitions; partition += 1) {
    let [slots, held] = [0, 0];
    for (const row of table) {
      const device = row[partition];
      if (device === undefined) continue;
      slots += 1;
      if (isGood[device] === true) held += 1;
    }
    if (held * 2 <= slots) return false;
  }
  return true;
}

/** Whether every device of some zone is good. */
function hasWholeZone({ devices }: Ring, isGood: readonly boolean[]): boolean {
  const known = devices.filter((device) => device !== null);
  const zones = Map.groupBy(known, ({ region, zone }) => `${region}/${zone}`);
  return zones.values().some((zone) => zone.every(({ id }) => isGood[id] === true));
}
