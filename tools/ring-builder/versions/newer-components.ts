// Finds components of a composite ring with newer versions than it is composed of.
import { counted } from '@ringwright/base/counted';
import { codedOrDisk } from '@ringwright/base/disk-error';
import type { BuilderState, Component } from '@ringwright/builder/state/builder-state';
import { changeCommand } from '@ringwright/builder/state/composition';
import { headOf, readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import type { Context } from '../cli/command.ts';

export interface NewerComponent {
  readonly ring: string;
  /** The version in the composite ring. */
  readonly composed: number;
  /** Null if its folder cannot be read or is not here. */
  readonly newest: number | null;
  /** Moves in flight of its head. compose accepts only a component without any. */
  readonly inFlight: number;
  /** Why it cannot be read. */
  readonly why?: string;
}

export interface Newer {
  readonly newer: readonly NewerComponent[];
  /** The command by which the ring follows them, for Context.next; null: nothing to follow. */
  readonly follow: string | null;
}

/**
 * Reads the log of each component, and the head of a newer one. Empty for a ring without
 * components.
 */
export async function newerComponents(
  rings: string,
  state: Pick<BuilderState, 'ring' | 'components'>,
): Promise<Newer> {
  const { components = [] } = state;
  const found = await Promise.all(components.map((one) => newerThan(rings, one)));
  const newer = found.filter((one) => one !== null);
  return { newer, follow: followCommand(state, newer) };
}

async function newerThan(
  rings: string,
  { ring, version: composed }: Component,
): Promise<NewerComponent | null> {
  try {
    const newest = headOf(await readLog(rings, ring))?.version ?? 0;
    if (newest <= composed) return null;
    const { moves } = (await readVersion(rings, ring, 'head')).ring;
    return { ring, composed, newest, inFlight: moves.length };
  } catch (error) {
    const { code, message } = codedOrDisk(error);
    return { ring, composed, newest: null, inFlight: 0, why: `${code}: ${message}` };
  }
}

function followCommand(
  state: Pick<BuilderState, 'ring' | 'components'>,
  newer: readonly NewerComponent[],
): string | null {
  const readable = newer.filter(({ newest }) => newest !== null);
  if (readable.length === 0) return null;
  const moving = readable.find(({ inFlight }) => inFlight > 0);
  return moving === undefined ? changeCommand(state) : `rollout ${moving.ring}`;
}

/** Returns lines for people. */
export function newerLines(context: Pick<Context, 'next'>, { newer, follow }: Newer): string[] {
  const lines = newer.map(
    (one) => `${newerText(one)}; this ring has version ${one.composed} of it`,
  );
  return follow === null ? lines : [...lines, `to follow it: ${context.next(follow)}`];
}

/** Returns `component photos-east has version 3`, and moves in flight. */
export function newerText({ ring, newest, inFlight, why }: NewerComponent): string {
  if (newest === null) return `component ${ring} cannot be read (${why})`;
  const moving = inFlight === 0 ? '' : ` with ${counted(inFlight, 'move')} in flight`;
  return `component ${ring} has version ${newest}${moving}`;
}
