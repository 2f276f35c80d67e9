// ring-builder rollout: drives the moves of the head to their end. Its state is the ring and the
// servers, nothing else.

import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { commitVersion } from '@ringwright/repository/commit-version';
import { readVersion, type StoredVersion } from '@ringwright/repository/read-version';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { flag, optionalNumber, text } from '../arguments.ts';
import { dropGoneDevices } from '../drop-gone-devices.ts';
import { proposeNextWave } from '../propose-next-wave.ts';
import { ringTargets } from '../ring-targets.ts';
import { nextRolloutStep } from '../rollout-step.ts';
import { ringKey } from '../signing.ts';
import { authorOf } from '../stage-verb.ts';
import type { Answer, Context, Verb } from '../verb.ts';
import { type Drains, waitForDrains } from '../wait-drains.ts';
import { waitForLoads } from '../wait-loads.ts';
import { waitUntil } from '../wait-until.ts';
import { pushAndNote } from './push.ts';

/** A server that restarts and replays its log is back within this time. */
const STALL_SECONDS = 60;

export const verb: Verb = {
  options: {
    'stall-timeout': {
      type: 'string',
      requiresArg: true,
      describe: `seconds without any progress after which it gives up (default ${STALL_SECONDS})`,
    },
    'skip-down': {
      type: 'boolean',
      default: false,
      describe: 'go on without servers that cannot be reached; they are fenced until they catch up',
    },
  },
  examples: [['$0 rollout cities', 'pushes, waits for the copies, finalizes, waits for the drops']],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const stallMs = (optionalNumber(args, 'stall-timeout') ?? STALL_SECONDS) * 1_000;
    const options = { stallMs, skipDown: flag(args, 'skip-down') };
    return rollOut(context, ring, options);
  },
};

interface Options {
  readonly stallMs: number;
  readonly skipDown: boolean;
}

interface Totals {
  moved: number;
  partitions: number;
  bytes: number;
  verified: number;
  copyMs: number;
  versions: number;
}

async function rollOut(context: Context, ring: string, options: Options): Promise<Answer> {
  const totals: Totals = { moved: 0, partitions: 0, bytes: 0, verified: 0, copyMs: 0, versions: 0 };
  for (;;) {
    const head = await readVersion(context.rings, ring, 'head');
    await pushToAll(context, head, options);
    const step = nextRolloutStep(head.ring);
    if (step.kind === 'initialize') {
      const moves = head.ring.moves.length;
      context.tell(
        `${ring} version ${head.ring.version}: every server knows the ${moves} moves; joiners may copy`,
      );
      await advance(context, head, {
        next: initializeMoves(head.ring, head.id),
        message: `${moves} moves initializing`,
      });
    } else if (step.kind === 'finalize') {
      await finalize(context, head, { totals, stallMs: options.stallMs });
    } else {
      const targets = ringTargets(head.ring, head.state);
      const drains = await waitForDrains(context, {
        version: head,
        targets,
        stallMs: options.stallMs,
      });
      if (drains.left.length > 0) return rolloutAnswer(context, head, { totals, drains });
      const goesOn =
        (await proposeNextWave(context, head)) || (await dropGoneDevices(context, head));
      if (!goesOn) return rolloutAnswer(context, head, { totals, drains });
    }
    totals.versions += 1;
  }
}

/** The barrier between the steps: every server has the version in memory, or nothing goes on. */
async function pushToAll(
  context: Context,
  version: StoredVersion,
  options: Options,
): Promise<void> {
  const targets = ringTargets(version.ring, version.state);
  const { answer, done } = await waitUntil({
    ask: () => pushAndNote(context, version, { targets, keepGoing: true, tell: null }),
    isDone: (servers) =>
      servers.every(
        ({ outcome, required }) =>
          outcome === 'accepted' || !required || (options.skipDown && outcome === 'unreachable'),
      ),
    progressOf: (servers) => {
      const missing = servers.filter(({ outcome, required }) => required && outcome !== 'accepted');
      const why = missing.map(({ address, message }) => `${address}: ${message}`).join('; ');
      return `version ${version.ring.version} waits for ${missing.length} servers: ${why}`;
    },
    stallMs: options.stallMs,
    nowMs: context.nowMs,
    tell: context.tell,
  });
  if (done) return;
  const missing = answer.filter(({ outcome, required }) => required && outcome !== 'accepted');
  const { keyspace, version: number } = version.ring;
  const names = missing.map(({ address, code }) => `${address} (${code})`).join(', ');
  throw new CodedError(
    'SERVERS_NOT_CONFIRMED',
    `${missing.length} of ${answer.length} servers have not confirmed version ${number}: ${names}`,
    {
      hint: `start them and type ring-builder rollout ${keyspace} again, remove their devices, or add --skip-down`,
      details: { ring: keyspace, version: number, missing },
    },
  );
}

async function finalize(
  context: Context,
  head: StoredVersion,
  { totals, stallMs }: { readonly totals: Totals; readonly stallMs: number },
): Promise<void> {
  const { ring, id } = head;
  const startedMs = context.nowMs();
  const loads = await waitForLoads(context, { ring, moves: ring.moves, stallMs });
  totals.copyMs += context.nowMs() - startedMs;
  const message = `${ring.moves.length} moves finalized`;
  await advance(context, head, { next: finalizeMoves(ring, id), message });
  totals.moved += ring.moves.length;
  totals.partitions += loads.available;
  totals.bytes += loads.bytes;
  totals.verified += loads.copiesVerified;
  context.tell(
    `${ring.keyspace} version ${ring.version + 1}: the table names the joiners; old holders give up`,
  );
}

async function advance(
  context: Context,
  head: StoredVersion,
  { next, message }: { readonly next: Ring; readonly message: string },
): Promise<void> {
  await commitVersion(context.rings, {
    ring: next,
    state: must(head.state, `version ${head.ring.version} carries the builder`),
    entry: {
      ...authorOf(context),
      kind: 'advance',
      message,
      moves: head.ring.moves.length,
      figures: {},
      details: {},
    },
    expected: { head: { version: head.ring.version, id: head.id } },
    key: await ringKey(context),
  });
}

function rolloutAnswer(
  context: Context,
  { ring, id }: StoredVersion,
  { totals, drains }: { readonly totals: Totals; readonly drains: Drains },
): Answer {
  const { moved, partitions, bytes, verified, copyMs, versions } = totals;
  const { keyspace, version } = ring;
  const seconds = copyMs / 1_000;
  const rate = copyMs === 0 ? 0 : bytes / 1e6 / seconds;
  const copied = { partitions, bytes, seconds, mbPerSecond: rate };
  const left = drains.left.reduce((sum, one) => sum + one.partitions, 0);
  const done = `${keyspace} version ${version}: ${moved} slots moved, ${verified} copies verified`;
  return {
    json: {
      ring: keyspace,
      version,
      id,
      moved,
      copied,
      verified,
      left: drains.left,
      changed: versions > 0,
    },
    lines: [
      versions === 0 && left === 0 ? `${keyspace} version ${version}: nothing is in flight` : done,
      ...(moved > 0 ? [`${(bytes / 1e6).toFixed(1)} MB copied in ${seconds.toFixed(1)} s`] : []),
      ...drains.left.map(
        ({ address, partitions: count, reason }) =>
          `${address} still holds ${count} partitions: ${reason}`,
      ),
    ],
    next: context.next(drains.left.length > 0 ? `rollout ${keyspace}` : `servers ${keyspace}`),
    exit: drains.left.length > 0 ? 4 : 0,
  };
}
