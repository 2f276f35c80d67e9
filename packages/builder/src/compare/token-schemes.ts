// Schemes in which tokens, or only the number of nodes, determine the layout. Pure.

import { seededRandom } from '@ringwright/base/random';
import { equalEnd } from '@ringwright/ring/partitioner/hash-ends';
import { preferenceList } from '../placement/walk-placement.ts';
import {
  byPosition,
  clockwise,
  type Layout,
  layoutOf,
  type Scheme,
  type SchemeSettings,
  type Token,
} from './layout.ts';

/** Hash modulo the number of nodes; the next nodes hold the other replicas. */
export function modulo({ replicas }: SchemeSettings): Scheme {
  const layout = (nodes: readonly number[]): Layout => ({
    ends: null,
    lists: nodes.map((_, at) =>
      Array.from({ length: replicas }, (_, step) => nodes[(at + step) % nodes.length]!),
    ),
    arcOf: (hash) => hash % nodes.length,
    entries: nodes.length,
  });
  return { name: 'modulo N', isFixed: false, layouts: (steps) => steps.map(layout) };
}

/** Dynamo's first strategy: arcs end at random tokens, T per node. */
export function randomTokens(settings: SchemeSettings): Scheme {
  const { replicas, tokens } = settings;
  const name = `Dynamo S1 (${tokens} random tokens)`;
  return {
    name,
    isFixed: false,
    layouts: (steps) => steps.map((nodes) => layoutOfTokens(circleOf(nodes, settings), replicas)),
  };
}

/** Shriek: one token per node, and arcs end there. */
export function oneToken(settings: SchemeSettings): Scheme {
  const scheme = randomTokens({ ...settings, tokens: 1 });
  return { ...scheme, name: 'Shriek (one token)' };
}

/** Dynamo's second strategy: equal arcs, each held by the first nodes after its end. */
export function equalArcs(settings: SchemeSettings): Scheme {
  const { replicas, partitions, tokens } = settings;
  const ends = Array.from({ length: partitions }, (_, index) => equalEnd(index, partitions));
  const layout = (nodes: readonly number[]): Layout => {
    const circle = circleOf(nodes, settings);
    const positions = circle.map(({ position }) => position);
    const lists = ends.map((end) =>
      preferenceList(circle, clockwise(positions, end - 1), replicas),
    );
    return layoutOf(ends, lists, circle.length);
  };
  const name = `Dynamo S2 (${tokens} tokens, equal parts)`;
  return { name, isFixed: true, layouts: (steps) => steps.map(layout) };
}

/** Returns the layout whose arcs end at the tokens themselves. */
function layoutOfTokens(circle: readonly Token[], replicas: number): Layout {
  const ends = circle.map(({ position }) => position);
  const lists = circle.map((_, at) => preferenceList(circle, at, replicas));
  return layoutOf(ends, lists, circle.length);
}

/** Returns the circle. A node's tokens do not depend on the other nodes. */
function circleOf(
  nodes: readonly number[],
  { tokens, seed }: Pick<SchemeSettings, 'tokens' | 'seed'>,
): Token[] {
  const usedPositions = new Set<number>();
  const circle = nodes.flatMap((node) => {
    const random = seededRandom(seed * 65_537 + node);
    return Array.from({ length: tokens }, () => ({ position: random.next(), node }));
  });
  return circle
    .filter(({ position }) => !usedPositions.has(position) && usedPositions.add(position))
    .sort(byPosition);
}
