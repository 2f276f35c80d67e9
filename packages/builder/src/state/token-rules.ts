// Rules for rings that are placed by tokens: the places on the circle alone decide. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { tokensPerDeviceMax } from '@ringwright/base/limits';
import { positionText } from '@ringwright/ring/partitioner/hash-ends';
import type { BuilderDevice, BuilderState } from './builder-state.ts';

/** Throws PLACED_BY_TOKENS and names the setting that a clockwise walk cannot keep. */
export function checkTokenRules(state: BuilderState): void {
  if (state.placement === undefined) return;
  const { partitioner, replicas, overload, zonesMin, pins, sizes, devices } = state;
  const heldDevice = devices.find((device) => device?.hold !== undefined);
  const broken =
    partitioner.kind !== 'hash-intervals'
      ? `partitioner ${partitioner.kind} has no circle of hashes: use --partitioner hash-intervals`
      : !Number.isInteger(replicas)
        ? `${replicas} replicas, expected a whole number`
        : overload > 0
          ? `the overload is ${overload}, expected 0`
          : zonesMin !== undefined
            ? `zones-min is ${zonesMin}, but a walk does not consider zones`
            : pins !== undefined
              ? `partition ${pins[0]?.partition} is pinned`
              : sizes !== undefined
                ? 'there is no choice of table by bytes'
                : heldDevice
                  ? `d${heldDevice.id} is held: ${heldDevice.hold}`
                  : null;
  if (broken === null) return;
  throw new CodedError('PLACED_BY_TOKENS', `placement by tokens: ${broken}`, {
    hint: 'only tokens decide which device holds what; create the ring without --placement tokens',
    details: { ring: state.ring },
  });
}

/**
 * Returns the tokens of an added device: those requested, or else the first end of the
 * partitioner's list that no device has. Returns undefined in rings that are placed by shares.
 * Throws PLACED_BY_TOKENS, and INTERVALS_INVALID with the token and its owner.
 */
export function tokensOf(
  state: BuilderState,
  tokens: readonly number[] | undefined,
): readonly number[] | undefined {
  if (state.placement === undefined) {
    if (tokens === undefined) return undefined;
    throw new CodedError('PLACED_BY_TOKENS', `ring ${state.ring} is placed by shares, not tokens`, {
      hint: 'ring-builder create RING --partitioner hash-intervals --placement tokens',
    });
  }
  const owners = tokenOwners(state.devices);
  if (tokens === undefined) return [firstFree(state, owners)];
  if (tokens.length === 0 || tokens.length > tokensPerDeviceMax) {
    const message = `${tokens.length} tokens, expected 1 to ${tokensPerDeviceMax}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message);
  }
  for (const [index, token] of tokens.entries()) {
    const owner = owners.get(token);
    if (owner === undefined && tokens.indexOf(token) === index) continue;
    const whose = owner === undefined ? 'named twice' : `already used by d${owner}`;
    throw new CodedError('INTERVALS_INVALID', `token ${positionText(token)} is ${whose}`, {
      hint: 'every token belongs to one device',
      details: { token, device: owner ?? null },
    });
  }
  return tokens;
}

/** Returns the device at each token. Removed devices have no tokens any more. */
export function tokenOwners(
  devices: readonly (BuilderDevice | null)[],
): ReadonlyMap<number, number> {
  return new Map(
    devices.flatMap((device) =>
      device?.state === 'active'
        ? (device.tokens ?? []).map((token) => [token, device.id] as const)
        : [],
    ),
  );
}

function firstFree(
  { ring, partitioner }: BuilderState,
  owners: ReadonlyMap<number, number>,
): number {
  const ends = partitioner.kind === 'hash-intervals' ? (partitioner.ends ?? []) : [];
  const free = ends.find((end) => !owners.has(end));
  if (free !== undefined) return free;
  const message =
    ends.length === 0
      ? `ring ${ring} lists no tokens of its own`
      : `all ${ends.length} tokens of ring ${ring} are already used by devices`;
  throw new CodedError('INTERVALS_INVALID', message, {
    hint: `ring-builder add ${ring} DEVICE WEIGHT --tokens .85`,
    details: { tokens: ends.length },
  });
}
