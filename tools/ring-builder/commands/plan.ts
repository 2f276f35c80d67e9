// ring-builder plan: what a commit would do; changes nothing.
import { flag, text } from '../arguments.ts';
import { preparePlan } from '../prepare-plan.ts';
import { planDocument, printPlan } from '../print-plan.ts';
import type { Verb } from '../verb.ts';

/** Enough of a digest to type; `commit --plan` takes any start of this length or more. */
export const digestCharactersMin = 12;

export const verb: Verb = {
  options: {
    direct: { type: 'boolean', default: false, describe: 'as commit --direct would do it' },
  },
  examples: [['$0 plan cities', 'moves per device, warnings, and the digest for commit --plan']],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const prepared = await preparePlan(context, ring, { direct: flag(args, 'direct') });
    const { plan, state, changed, direct } = prepared;
    const options = flag(args, 'direct') ? ' --direct' : '';
    const digest = plan.digest.slice(0, digestCharactersMin);
    return {
      json: { ...planDocument(plan), direct, changed },
      lines: changed ? printPlan(plan, state) : [`${ring}: a commit would have nothing to do`],
      next: changed
        ? context.next(`commit ${ring} -m TEXT --plan ${digest}${options}`)
        : context.next(`status ${ring}`),
    };
  },
};
