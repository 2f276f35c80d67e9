// --if of commit and plan: limits on the cost of a plan, for programs that commit. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { allMoves } from '@ringwright/builder/plan/later-waves';
import { usage } from '../cli/arguments.ts';
import { textOption } from '../cli/command.ts';
import { parseBytes } from '../cli/print-bytes.ts';
import type { PlanToCommit } from './commit-plan.ts';
import { type PlanEffects, partitionsAtRisk } from './print-plan-effects.ts';

export const limitsOption = textOption(
  'commit only within all these limits: moves<=N and bytes<=SIZE (of all waves), risk<=N ' +
    '(partitions that the plan reports as at risk); = means exactly',
);

const figureNames = ['moves', 'bytes', 'risk'] as const;
type FigureName = (typeof figureNames)[number];

interface Limit {
  readonly name: FigureName;
  readonly exact: boolean;
  readonly value: number;
}

/** Throws USAGE. */
export function parseLimits(typed: string | undefined): readonly Limit[] {
  return typed === undefined ? [] : typed.split(',').map(parseLimit);
}

function parseLimit(term: string): Limit {
  const [, word, sign, size = ''] = /^([a-z]+)(<=|=)([\w.]+)$/.exec(term.trim()) ?? [];
  const name = figureNames.find((one) => one === word);
  const isCount = /^\d{1,15}$/.test(size);
  if (name === undefined || (name !== 'bytes' && !isCount)) {
    throw usage(`--if '${term}' is not moves<=N, bytes<=SIZE or risk<=N, such as risk=0`);
  }
  return { name, exact: sign === '=', value: isCount ? Number(size) : parseBytes(size, '--if') };
}

/**
 * Throws PLAN_OVER_LIMIT with every figure that exceeds its limit. Unknown bytes exceed any limit.
 */
export function requireLimits(
  { plan, head, direct }: Pick<PlanToCommit, 'plan' | 'head' | 'direct'>,
  effects: Pick<PlanEffects, 'traffic' | 'risk' | 'ends' | 'givenUp'>,
  limits: readonly Limit[],
): void {
  const moves = allMoves(plan).length;
  const isCopied = head !== null && !direct && moves > 0;
  const bytes = effects.traffic?.bytes ?? (isCopied ? null : 0);
  const figures = { moves, bytes, risk: partitionsAtRisk(effects) };
  const failed = limits.flatMap(({ name, exact, value }) => {
    const found = figures[name];
    const isWithin = found !== null && (exact ? found === value : found <= value);
    return isWithin ? [] : [{ name, limit: `${exact ? '=' : '<='}${value}`, found }];
  });
  if (failed.length === 0) return;
  const exceeded = failed.map(
    ({ name, limit, found }) => `${name} ${found ?? 'unknown'}, not ${limit}`,
  );
  throw new CodedError('PLAN_OVER_LIMIT', `the plan of ${plan.ring} has ${exceeded.join('; ')}`, {
    hint: `nothing was committed: ring-builder plan ${plan.ring} shows why`,
    details: { ring: plan.ring, over: failed, digest: plan.digest },
  });
}
