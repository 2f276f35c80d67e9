// Prints the pins in force. Pure.
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { printPartitions } from './cancelled-since.ts';

/** Returns one line or none. `unpin`: returns the command that removes a pin. */
export function pinLines(
  { pins = [] }: Pick<BuilderState, 'pins'>,
  unpin: (partition: number) => string,
): string[] {
  const [first] = pins;
  if (first === undefined) return [];
  const named = printPartitions(pins.map(({ partition }) => partition));
  return [`pinned: ${named}; ${unpin(first.partition)} removes one; why explains its pin`];
}
