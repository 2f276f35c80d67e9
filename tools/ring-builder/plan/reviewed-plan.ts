// Presents a plan for review, for plan and revert: document, lines, and the command to type.
import type { Finding } from '@ringwright/base/finding';
import type { ChangeGuard } from '@ringwright/repository/judge-version';
import type { Context } from '../cli/verb.ts';
import { isForSwift } from '../versions/last-push.ts';
import { endedRamps, type PlanToCommit, plannedGuard } from './commit-plan.ts';
import { commitOptions } from './commit-rules.ts';
import { roomFirst } from './lacking-room.ts';
import { planDocument, printPlan, withWarnings } from './print-plan.ts';
import { effectWarnings, type PlanEffects, printEffects } from './print-plan-effects.ts';

/** Throws TRUST_INVALID. */
export async function reviewedPlan(context: Context, wanted: PlanToCommit, effects: PlanEffects) {
  const { opened, state, head } = wanted;
  const { lacking, ...told } = effects;
  const guard = await plannedGuard(context, wanted);
  const plan = withWarnings(wanted.plan, [
    ...endedRamps(wanted),
    ...effectWarnings(effects),
    ...guardWarnings(guard),
  ]);
  const printed = printEffects(effects, { head: head?.ring ?? null, state });
  return {
    json: { ...planDocument(plan), ...told, brake: guard },
    /** Adds further lines after the effects. */
    lines: (more: readonly string[]): string[] =>
      printPlan(plan, state, {
        inPlace: effects.inPlace,
        forSwift: isForSwift(opened.entries),
        effects: [...printed, ...more],
      }),
    /**
     * Returns the command that makes disk space first, or else the command with the options it
     * needs.
     */
    next: (command: string, more = ''): string =>
      roomFirst(lacking) ?? `${command} ${commitOptions(plan, guard, lacking)}${more}`,
  };
}

/** The change guard's warning: a commit needs two signatures or a reason. */
function guardWarnings(guard: ChangeGuard | null): Finding[] {
  if (guard === null) return [];
  const { large, size, override, secondSignature } = guard;
  const message = `a large change, ${large}; ${whatItNeeds(guard)}`;
  return [{ code: 'BRAKE', message, details: { ...size, override, secondSignature } }];
}

function whatItNeeds({ override, secondSignature }: ChangeGuard): string {
  const reason = 'a commit needs --override REASON, which is logged';
  if (!secondSignature) return override ? reason : 'the root of trust lets nobody commit it';
  const second = 'a commit waits for a second signature (ring-builder sign)';
  return override ? `${second}, or needs --override REASON, which is logged` : second;
}
