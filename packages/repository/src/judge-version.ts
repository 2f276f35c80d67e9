// The operator's brake at a commit: is the next version a large change, and who lets it pass?
import { CodedError } from '@ringwright/base/coded-error';
import { brakeMovedShareMax, overrideCharactersMax } from '@ringwright/base/limits';
import type { BuilderState } from '@ringwright/builder/builder-state';
import { type ChangeSize, changeSize, whyLarge } from '@ringwright/ring/large-change';
import type { Ring } from '@ringwright/ring/ring';
import type { Trust } from '@ringwright/ring/trust-root';
import { type LogEntry, reachesServers } from './log-entry.ts';
import { readVersionFile } from './read-version.ts';
import type { WritableRing } from './write-ring.ts';

export interface Verdict {
  /** Why it is a large change; null when it is none. */
  readonly large: string | null;
  /** The reason it passes all the same, when one was needed and given. */
  readonly override: string | null;
}

export interface VersionToJudge {
  readonly ring: Ring;
  readonly state: BuilderState;
  readonly entry: Pick<LogEntry, 'kind' | 'figures'>;
  readonly override: string | null;
}

/**
 * Nothing can be lost by a first version, nor by any of a ring that was never pushed: they pass.
 * A large one passes with a reason; in a signed folder it may also wait for its second signature,
 * if there is a second key. Throws BRAKE, VALUE_OUT_OF_RANGE.
 */
export async function judgeVersion(
  { folder, file, log }: WritableRing,
  version: VersionToJudge,
  trust: Trust | null,
): Promise<Verdict> {
  const pushed = log.entries.some(reachesServers);
  if (file.head === null || !pushed) return { large: null, override: null };
  const previous = await readVersionFile(folder, file.head.version);
  const removed = newlyRemoved(file.state, version.state);
  const size = withLaterWaves(changeSize(previous.ring, version.ring, removed), version.entry);
  const share = trust?.root.roles.ring.movedShare ?? brakeMovedShareMax;
  const large = forced(size, version.ring) ?? whyLarge(size, share);
  if (large === null) return { large, override: null };
  const override = version.override;
  if (override !== null) requireReason(override);
  const allowed = trust === null || trust.root.roles.ring.override;
  if (override !== null && allowed) return { large, override };
  if (trust !== null && override === null && canWait(trust)) return { large, override };
  throw brake(version.ring, { large, allowed, trust, size });
}

/** What was removed before has been judged before. */
function newlyRemoved(before: BuilderState, after: BuilderState): ReadonlySet<number> {
  const isRemoved = ({ devices }: BuilderState, id: number): boolean =>
    devices[id]?.state === 'removed';
  const ids = after.devices.map((_, id) => id);
  return new Set(ids.filter((id) => isRemoved(after, id) && !isRemoved(before, id)));
}

/** Many small waves are one change: what is left for later is taken to be like what is seen. */
function withLaterWaves(size: ChangeSize, { kind, figures }: VersionToJudge['entry']): ChangeSize {
  const later = kind === 'commit' ? (figures['movesLeft'] ?? 0) : 0;
  if (later === 0 || size.moved === 0) return size;
  const whole = (part: number): number => Math.round((part * (size.moved + later)) / size.moved);
  return {
    ...size,
    moved: whole(size.moved),
    unexplained: whole(size.unexplained),
    given: whole(size.given),
  };
}

/** Servers that hold data are told to serve what nobody copies to them. */
function forced(size: ChangeSize, next: Ring): string | null {
  if (size.moved === 0 || next.moves.length > 0) return null;
  return `${size.moved} of ${size.slots} slots change device at once, without a copy (--direct)`;
}

function canWait({ root }: Trust): boolean {
  return root.roles.ring.large <= root.roles.ring.keys.length;
}

function requireReason(reason: string): void {
  if (reason.trim() !== '' && reason.length <= overrideCharactersMax) return;
  const message = `a reason of ${reason.length} characters, 1 to ${overrideCharactersMax} wanted`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message, {
    hint: '--override "why this is right"',
  });
}

function brake(
  ring: Ring,
  found: {
    readonly large: string;
    readonly allowed: boolean;
    readonly trust: Trust | null;
    readonly size: ChangeSize;
  },
): CodedError {
  const { large, allowed, trust, size } = found;
  const message = `version ${ring.version} of ${ring.keyspace} is a large change: ${large}`;
  const hint = allowed
    ? `see ring-builder plan ${ring.keyspace}; to go on: --override "why this is right", which is logged`
    : 'the root of trust allows no override: leave it out, and let a second person sign';
  const keys = trust?.root.roles.ring.keys.length ?? null;
  return new CodedError('BRAKE', message, { hint, details: { ...size, keys } });
}
