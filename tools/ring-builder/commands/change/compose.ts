// ring-builder compose: makes a ring of the replicas of other rings, or its next version.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { composePlan } from '@ringwright/builder/plan/compose-plan';
import { type ComponentHead, changeCommand, compose } from '@ringwright/builder/state/composition';
import { sameState } from '@ringwright/builder/state/state-json';
import { createRing } from '@ringwright/repository/add-ring';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { makesVersion } from '@ringwright/repository/folder/log-entry';
import { readVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { ringExists } from '@ringwright/repository/folder/require-ring';
import { ringFolder } from '@ringwright/repository/folder/ring-folder';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { usage } from '../../cli/arguments.ts';
import { type Command, type Context, textOption } from '../../cli/command.ts';
import { commitPlan, type PlanToCommit } from '../../plan/commit-plan.ts';
import { sizesFor } from '../../plan/known-sizes.ts';
import { requireRoom } from '../../plan/lacking-room.ts';
import { lastPush } from '../../versions/last-push.ts';

export const command: Command = {
  positionals: { components: { describe: 'rings whose replicas it gets, in this order' } },
  options: {
    message: textOption('message for the log', { alias: 'm' }),
    override: textOption('reason for a large change that the change guard would stop'),
  },
  about: `Each partition has the replicas of the first ring, then those of the second, and so on.
All have the same partitioner, whole numbers of replicas, no moves in flight and no common device.
Run it again with the same rings in the same order to make their newest versions the next version;
if servers have the ring, rollout carries out its moves. No other command changes such a ring.`,
  examples: [
    ['$0 compose photos photos-east photos-west', 'two replicas in the east, one in the west'],
    ['$0 compose photos photos-east photos-west -m "new disks"', 'again, after commits to them'],
  ],
  run: async (args, context) => {
    const [ring, names] = [args.text('ring'), args.texts('components')];
    if (names.length < 2 || new Set([ring, ...names]).size <= names.length) {
      const hint = `ring-builder compose ${ring} ${ring}-east ${ring}-west`;
      throw usage(`${ring} of ${names.join(' ')}: expected at least two other rings`, hint);
    }
    const prepared = await prepare(context, ring, names);
    const { plan, opened, state, head } = prepared;
    if (head !== null && plan.moves.length === 0 && sameState(state, opened.state)) {
      return {
        json: { ring, version: head.ring.version, moved: 0, changed: false },
        lines: [
          `${ring}: nothing to do; it already has the newest versions of ${names.join(' and ')}`,
        ],
        next: context.next(`show ${ring}`),
      };
    }
    requireRoom(prepared, await sizesFor(prepared), null);
    const summary = madeOf(context, prepared);
    const message = args.optionalText('message') ?? summary.message;
    const override = args.optionalText('override') ?? null;
    const done = await commitPlan(context, prepared, { message, override, isTyped: true });
    const { slotsLater } = prepared;
    return {
      json: { ...done.json, components: summary.components, slotsLater },
      lines: [...done.lines, ...summary.lines],
      // If servers have the ring, a rollout comes first.
      next: prepared.direct && slotsLater > 0 ? summary.again : done.next,
    };
  },
};

/** Describes what the version is composed of and what is left for the next one. */
function madeOf(context: Context, { state, heads, slotsLater }: Prepared) {
  const components = (state.components ?? []).map(({ devices: _devices, ...part }) => part);
  const parts = components.map((one) => `${one.ring} ${one.version}`).join(', ');
  const newest = heads.map(({ ring }) => `${ring.keyspace} ${ring.version}`).join(', ');
  const again = context.next(changeCommand(state));
  if (slotsLater === 0) {
    const message = `composed of ${parts}`;
    return { components, message, lines: [message], again };
  }
  const slots = counted(slotsLater, 'slot that they moved follows', 'slots that they moved follow');
  return {
    components,
    message: `partitions as in ${newest}; their slots are still those of ${parts}`,
    lines: [
      `partitions are split or merged as in ${newest}, in a version of its own`,
      `its slots are still those of ${parts}: ${slots} with the next ${again}`,
    ],
    again,
  };
}

interface Prepared extends PlanToCommit {
  readonly heads: readonly ComponentHead[];
  readonly slotsLater: number;
}

async function prepare(
  context: Context,
  ring: string,
  names: readonly string[],
): Promise<Prepared> {
  const heads = await Promise.all(names.map((name) => headOf(context, name)));
  const isThere = (await listRings(context.rings)).includes(ring);
  const before = isThere ? await openRing(context.rings, ring) : null;
  if (before !== null && before.state.components === undefined) {
    throw ringExists(ring, ringFolder(context.rings, ring).path);
  }
  const { state, table } = compose(ring, heads, before?.state ?? null);
  if (before === null) await createRing(context.rings, state, context.command);
  const opened = before ?? (await openRing(context.rings, ring));
  const head = opened.head === null ? null : await readVersion(context.rings, ring, 'head');
  if (head !== null) requireRest(head.ring.moves.length, opened);
  const direct = lastPush(opened.entries) === null;
  const from = { head: head?.ring ?? null, headId: head?.id ?? null, state, direct };
  const { components } = before?.state ?? {};
  return { opened, heads, direct, head, ...composePlan({ ...from, table, components }) };
}

async function headOf(context: Context, name: string): Promise<ComponentHead> {
  const { entries, head } = await openRing(context.rings, name);
  if (head === null) {
    throw new CodedError('COMPONENTS_UNFIT', `${name} has no version yet`, {
      hint: `ring-builder commit ${name} -m TEXT`,
    });
  }
  const stored = await readVersion(context.rings, name, 'head');
  const ids = new Map(entries.filter(makesVersion).map(({ version, id }) => [version, id]));
  const idOf = (version: number): string | null => ids.get(version) ?? null;
  return { ring: stored.ring, id: stored.id, state: stateOf(stored), idOf };
}

function requireRest(moves: number, { ring }: OpenedRing): void {
  if (moves === 0) return;
  throw new CodedError(
    'MOVES_IN_FLIGHT',
    `${ring} has ${counted(moves, 'move')} in flight, but must have none`,
    {
      hint: `ring-builder rollout ${ring}`,
      details: { ring, moves },
    },
  );
}
