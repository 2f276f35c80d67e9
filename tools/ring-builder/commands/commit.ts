// ring-builder commit: makes what is staged the next version.
import { CodedError } from '@ringwright/base/coded-error';
import { dropEmptyDevices } from '@ringwright/builder/drop-empty-devices';
import { nextRing } from '@ringwright/builder/next-ring';
import { commitVersion } from '@ringwright/repository/commit-version';
import { readTrust } from '@ringwright/repository/trust-file';
import { slotCount } from '@ringwright/ring/ring';
import { flag, optionalNumber, optionalText, text } from '../arguments.ts';
import {
  replicasAtOnceOption,
  requireDigest,
  requireReplicasAtOnce,
  requireSound,
} from '../commit-rules.ts';
import { lastPushed, type PreparedPlan, preparePlan } from '../prepare-plan.ts';
import { ringKey, tellSigned } from '../signing.ts';
import { authorOf } from '../stage-verb.ts';
import type { Answer, Context, Verb } from '../verb.ts';

export const verb: Verb = {
  options: {
    message: {
      alias: 'm',
      type: 'string',
      requiresArg: true,
      demandOption: true,
      describe: 'why, for the log',
    },
    plan: { type: 'string', requiresArg: true, describe: 'digest of the plan that was reviewed' },
    direct: {
      type: 'boolean',
      default: false,
      describe: 'straight to the final table: for rings that no server has loaded',
    },
    'max-replicas-at-once': replicasAtOnceOption,
    override: {
      type: 'string',
      requiresArg: true,
      describe: 'why a large change is right; it is logged, and stands for a second signature',
    },
  },
  examples: [
    ['$0 commit cities -m "zone 3 joins"', 'plans and commits'],
    ['$0 commit cities -m "zone 3 joins" --plan 3f9c2a7be01d', 'only if the plan is still that'],
    [
      '$0 commit cities -m "new racks" --override "ten racks join"',
      'a large change, by one person',
    ],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const direct = flag(args, 'direct');
    const prepared = await preparePlan(context, ring, { direct });
    requireDigest(prepared.plan, optionalText(args, 'plan'), prepared.opened.head);
    requireReplicasAtOnce(prepared.plan, optionalNumber(args, 'max-replicas-at-once'));
    const signsFirst = await isFirstSigned(context, prepared);
    if (!prepared.changed && !signsFirst) return nothingToDo(context, prepared);
    if (direct && !context.yes) requireUnpushed(ring, prepared);
    const override = optionalText(args, 'override') ?? null;
    return commit(context, prepared, { message: text(args, 'message'), override });
  },
};

async function commit(
  context: Context,
  prepared: PreparedPlan,
  { message, override }: { readonly message: string; readonly override: string | null },
): Promise<Answer> {
  const { plan, opened, head, direct } = prepared;
  const { ring, version, moves, moveLowerBound, movesLeft } = plan;
  const from = { head: head?.ring ?? null, headId: head?.id ?? null, direct };
  // No server has the ring: a device that this very version empties becomes a hole in it. Otherwise
  // its server has to drain first, and a rollout makes the hole.
  const planned = nextRing(plan, { ...from, state: prepared.state });
  const unknown = lastPushed(opened.entries) === null;
  const state = unknown ? dropEmptyDevices(prepared.state, planned) : prepared.state;
  const next = nextRing(plan, { ...from, state });
  requireSound(next);
  const { id } = await commitVersion(context.rings, {
    ring: next,
    state,
    entry: {
      ...authorOf(context),
      kind: 'commit',
      message,
      moves: moves.length,
      figures: { moveLowerBound, movesLeft, devices: plan.devices.length },
      details: { direct, digest: plan.digest },
    },
    expected: { head: opened.head, stagedDigest: opened.stagedDigest },
    key: await ringKey(context),
    override,
  });
  const signed = await tellSigned(context, ring, version);
  const proposed = next.moves.length;
  const placed = `${slotCount(next.partitions, next.replicas)} slots placed`;
  const atOnce = head === null ? placed : `${moves.length} slots moved at once`;
  const how = proposed > 0 ? `${proposed} moves proposed` : atOnce;
  return {
    json: {
      ring,
      version,
      id,
      moved: moves.length,
      moveLowerBound,
      movesLeft,
      direct,
      signed: signed.signed,
      signers: signed.signers,
      signaturesMissing: signed.missing,
      changed: true,
    },
    lines: [
      ...plan.warnings.map(({ code, message: sentence }) => `warning ${code}: ${sentence}`),
      `committed ${ring} version ${version} (${id.slice(0, 12)}): ${how}`,
      ...signed.lines,
    ],
    next: signed.next ?? context.next(`${proposed > 0 ? 'rollout' : 'push'} ${ring}`),
  };
}

/** The first commit after signing was turned on signs what is there, whatever is staged. */
async function isFirstSigned(context: Context, { head }: PreparedPlan): Promise<boolean> {
  return head !== null && head.signing === null && (await readTrust(context.rings)) !== null;
}

function nothingToDo(context: Context, { opened, direct }: PreparedPlan): Answer {
  const { ring, head } = opened;
  return {
    json: {
      ring,
      version: head?.version ?? null,
      id: head?.id ?? null,
      moved: 0,
      moveLowerBound: 0,
      movesLeft: 0,
      direct,
      changed: false,
    },
    lines: [`${ring}: nothing to do; the head stays version ${head?.version}`],
    next: context.next(`status ${ring}`),
  };
}

/** Servers that have data would be told to serve what they were never given. */
function requireUnpushed(ring: string, { opened }: PreparedPlan): void {
  const pushed = lastPushed(opened.entries);
  if (pushed === null) return;
  throw new CodedError(
    'CONFIRMATION_NEEDED',
    `version ${pushed} of ${ring} was pushed to servers; --direct would move no data for them`,
    {
      hint: 'leave out --direct, or add --yes when the servers hold nothing',
      details: { ring, pushed },
    },
  );
}
