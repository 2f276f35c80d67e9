// What pins cost, and which of them cannot be kept. Pure.
import type { Finding } from '@ringwright/base/finding';
import type { PlacementProblem } from '../place/placement-problem.ts';
import type { BuilderState } from '../state/builder-state.ts';

/** Partitions or devices named in a message; the details name all. */
const NAMED_MAX = 5;

export function pinFindings({ tree, targets }: PlacementProblem, state: BuilderState): Finding[] {
  const worse = [...(targets.own ?? [])].flatMap(([partition, { dispersed }]) =>
    dispersed ? [] : [partition],
  );
  const unmet = (state.pins ?? []).flatMap(({ partition, on }) =>
    on.flatMap((id) => ((tree.leafOfDevice[id] ?? -1) < 0 ? [{ partition, id }] : [])),
  );
  const findings: Finding[] = [];
  if (worse.length > 0) {
    findings.push({
      code: 'PINS_BREAK_DISPERSION',
      message:
        `pins keep ${worse.length} partitions from being dispersed as shares permit ` +
        `(${named(worse)}); they are as near to it as their pins let them`,
      details: { partitions: worse },
    });
  }
  if (unmet.length > 0) {
    const words = unmet.map(({ partition, id }) => `${partition} on d${id}`);
    findings.push({
      code: 'PINS_UNMET',
      message: `${unmet.length} pins name devices that hold nothing, and wait: ${named(words)}`,
      details: { pins: unmet },
    });
  }
  return findings;
}

function named(all: readonly (number | string)[]): string {
  const more = all.length > NAMED_MAX ? ` and ${all.length - NAMED_MAX} more` : '';
  return `${all.slice(0, NAMED_MAX).join(', ')}${more}`;
}
